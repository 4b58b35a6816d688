// Layers that change the shape only, and the one that joins tensors.
#pragma once

#include <castnet/graph/flattened.hpp>
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

// Joins along the channels of images and the last axis of anything else; all other axes agree.
template <Shape First, Shape... More>
    requires(sizeof...(More) > 0 && sizeof...(More) < max_operands)
constexpr auto concat(symbol<First> x, symbol<More>... more) {
    static_assert((joinable<First, More> && ...),
                  "castnet: concat: the tensors differ in more than their channels; see "
                  "joinable<first shape, other shape>");
    if constexpr ((joinable<First, More> && ...)) {
        return detail::operation<typename detail::joined_all<First, More...>::type>(op::concat, -1,
                                                                                    x, more...);
    } else {
        return x;
    }
}

} // namespace castnet
