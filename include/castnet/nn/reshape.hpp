// Shape layers: flatten, slice_channels, and what joins tensors: concat, and stack of numbers.
#pragma once

#include <castnet/graph/flattened.hpp>
#include <castnet/graph/op/rearrange.hpp>
#include <castnet/graph/op/source.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

// All elements in their logical order: (channels, height, width) becomes (channels*height*width).
struct flatten_layer {
    static constexpr char const* name = "flatten";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        if constexpr (S::rank == 1) {
            return x;
        } else if constexpr (S::rank == 3) {
            return flattened<S>{reshaped(x, shape<S::count>{}), x.id};
        } else {
            return reshaped(x, shape<S::count>{});
        }
    }
};
inline constexpr flatten_layer flatten{};

namespace detail {

template <class A, class B>
struct joined;
template <size_t A, size_t B>
struct joined<shape<A>, shape<B>> {
    using type = shape<A + B>;
};
template <size_t T, size_t A, size_t B>
struct joined<shape<T, A>, shape<T, B>> {
    using type = shape<T, A + B>;
};
template <size_t A, size_t B, size_t H, size_t W>
struct joined<shape<A, H, W>, shape<B, H, W>> {
    using type = shape<A + B, H, W>;
};

template <class A, class B, class... More>
struct joined_all {
    using type = typename joined_all<typename joined<A, B>::type, More...>::type;
};
template <class A, class B>
struct joined_all<A, B> : joined<A, B> {};

} // namespace detail

template <class A, class B>
inline constexpr bool joinable = requires { typename detail::joined<A, B>::type; };

// Whether First and Count fit the channels of the input.
template <size_t First, size_t Count, size_t Channels>
inline constexpr bool slice_within = Count > 0 && First + Count <= Channels;

namespace detail {

template <class S, size_t Count>
struct with_channels;
template <size_t A, size_t Count>
struct with_channels<shape<A>, Count> {
    using type = shape<Count>;
};
template <size_t T, size_t A, size_t Count>
struct with_channels<shape<T, A>, Count> {
    using type = shape<T, Count>;
};
template <size_t A, size_t H, size_t W, size_t Count>
struct with_channels<shape<A, H, W>, Count> {
    using type = shape<Count, H, W>;
};

} // namespace detail

// Channels First to First + Count - 1 of images, or that part of the last axis of other tensors:
// the inverse of concat (PyTorch's narrow, TensorFlow's slice).
template <size_t First, size_t Count>
struct slice_channels_layer {
    static constexpr char const* name = "slice_channels";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        constexpr size_t channels = S::rank == 3 ? S::extent[0] : S::extent[S::rank - 1];
        static_assert(slice_within<First, Count, channels>,
                      "castnet: slice_channels: the slice is empty or reaches beyond the channels; "
                      "see slice_within<first, count, channels>");
        using result = typename detail::with_channels<S, Count>::type;
        return detail::emit_operation<op::slice, result>(*x.g, int(First), {detail::sample_id(x)});
    }
};
template <size_t First, size_t Count>
inline constexpr slice_channels_layer<First, Count> slice_channels{};

// Concatenation along the channels of images or the last axis of other tensors; all other axes must
// be equal.
template <Shape First, Shape... More>
    requires(sizeof...(More) > 0 && sizeof...(More) < ir::max_operands)
constexpr auto concat(symbol<First> x, symbol<More>... more) {
    static_assert((joinable<First, More> && ...),
                  "castnet: concat: the tensors differ in more than their channels; see "
                  "joinable<first shape, other shape>");
    if constexpr ((joinable<First, More> && ...)) {
        using result = typename detail::joined_all<First, More...>::type;
        return detail::emit_operation<op::concat, result>(
            *x.g, -1, {detail::sample_id(x), detail::sample_id(more)...});
    } else {
        return x;
    }
}

namespace detail {

template <class Numbers>
constexpr auto stacked(Numbers, int, symbol<shape<>> last) {
    return last;
}
template <class Numbers, class... More>
constexpr auto stacked(Numbers numbers, int first, symbol<shape<>> x, More... more) {
    return where(equal(numbers, first), x, stacked(numbers, first + 1, more...));
}

} // namespace detail

// A vector of two or more numbers of a sample (PyTorch's stack).
template <class... More>
    requires(sizeof...(More) > 0 && (std::is_same_v<More, symbol<shape<>>> && ...))
constexpr auto stack(symbol<shape<>> first, More... more) {
    return detail::stacked(channel_index<shape<1 + sizeof...(More)>>(*first.g), 0, first, more...);
}

} // namespace castnet
