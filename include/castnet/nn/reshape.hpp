// Shape layers: flatten, reshape_to, slice_channels, and what joins tensors: concat, and stack of
// numbers.
#pragma once

#include <castnet/core/in_braces.hpp>
#include <castnet/graph/flattened.hpp>
#include <castnet/graph/op/rearrange.hpp>
#include <castnet/graph/op/source.hpp>
#include <castnet/nn/scope.hpp>
#include <castnet/tensor/mistakes.hpp>

namespace castnet {

// All elements in their logical order: (channels, height, width) becomes (channels*height*width).
struct flatten_layer {
    static constexpr char const* name = "flatten";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        if constexpr (S::rank == 1) {
            return x;
        } else if constexpr (channels_first<S>) {
            return flattened<S>{reshaped(x, shape<S::count>{}), x.id};
        } else {
            return reshaped(x, shape<S::count>{});
        }
    }
};
inline constexpr flatten_layer flatten{};

// The same elements in the same logical order as a tensor of this shape, whose type also says in
// which order they lie in memory: reshape<10, 8, 64> is an image of ten channels,
// reshape_to<row_major_shape<10, 8, 64>> has ten times eight rows of 64 features. From one order to
// the other the elements move; between tensors that are no images nothing does.
template <Shape To>
struct reshape_to_layer {
    static constexpr char const* name = "reshape";
    template <Shape From>
    constexpr auto operator()(symbol<From> x) const {
        return reshaped(x, To{});
    }
};
template <Shape To>
inline constexpr reshape_to_layer<To> reshape_to{};

template <class A, class B>
inline constexpr bool joinable =
    A::rank > 0 && std::is_same_v<with_channels<A, 1>, with_channels<B, 1>>;

// Whether First and Count fit the channels of the input.
template <size_t First, size_t Count, size_t Channels>
inline constexpr bool slice_within = Count > 0 && First + Count <= Channels;

// Channels First to First + Count - 1 of images, or that part of the last axis of other tensors:
// the inverse of concat (PyTorch's narrow, TensorFlow's slice).
template <size_t First, size_t Count>
struct slice_channels_layer {
    static constexpr char const* name = "slice_channels";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(slice_within<First, Count, channels_of<S>>,
                      "castnet: slice_channels: the slice is empty or reaches beyond the channels; "
                      "see slice_within<first, count, channels>");
        using result = with_channels<S, Count>;
        return detail::emit_operation<op::slice, result>(*x.g, int(First), {detail::array_id(x)});
    }
};
template <size_t First, size_t Count>
inline constexpr slice_channels_layer<First, Count> slice_channels{};

namespace detail {

// Joins the channels of tensors with S's other axes, all of samples or none. Of more than a node
// has operands, the last become one first.
template <Shape S>
constexpr int joined(ir::graph& g, int* tensors, int count) {
    while (count > 1) {
        int const surplus = count - ir::max_operands; // to be got rid of
        int const part = surplus <= 0                 ? count
                         : surplus < ir::max_operands ? surplus + 1
                                                      : ir::max_operands;
        ir::node n;
        n.kind = op::concat;
        n.size = {g.nodes[tensors[0]].size.sample, static_cast<int>(pixels_of<S>), 0};
        for (int k = count - part; k < count; ++k) {
            n.in[n.operands++] = tensors[k];
            n.size.channels += g.nodes[tensors[k]].size.channels;
        }
        n.size.order = n.size.pixels > 1 ? order_of<S> : memory_order::row_major;
        count -= part;
        tensors[count++] = g.push(n);
    }
    return tensors[0];
}

} // namespace detail

template <size_t... Axis>
struct joins_channels { // a class, so that every compiler prints the axis
    static_assert(
        sizeof...(Axis) == 0,
        "castnet: concat joins the channels of images and the last axis of other tensors; "
        "along another axis it is concatenate<axis>(x, y); see joins_channels<axis>");
    static constexpr bool checked = true;
};

template <Shape... S>
inline constexpr bool have_channels = ((S::rank > 0) && ...);

// Concatenation of two or more tensors along the channels of images or the last axis of other
// tensors; all other axes must be equal.
template <Shape First, Shape... More>
    requires(sizeof...(More) > 0)
constexpr auto concat(symbol<First> x, symbol<More>... more) {
    static_assert(have_channels<First, More...>,
                  "castnet: concat joins no numbers, of which cn::stack(a, b) makes a vector; see "
                  "have_channels<shapes...>");
    static_assert((joinable<First, More> && ...) || !have_channels<First, More...>,
                  "castnet: concat: the tensors differ in more than their channels; see "
                  "joinable<first shape, other shape>");
    if constexpr ((joinable<First, More> && ...)) {
        using result = with_channels<First, (channels_of<First> + ... + channels_of<More>)>;
        bool const of_samples = detail::any_of_samples(x, more...);
        int tensors[] = {detail::array_id(x, of_samples), detail::array_id(more, of_samples)...};
        return symbol<result>{x.g, detail::joined<First>(*x.g, tensors, 1 + sizeof...(More))};
    } else {
        return x;
    }
}
template <size_t Axis, class S, class... More> // a mistake
constexpr auto concat(symbol<S> x, More const&...) {
    return detail::written_otherwise<joins_channels<Axis>>(x);
}
template <class... X>
    requires SymbolsAndElements<X...>
constexpr auto concat(X const&... x) {
    static_assert(operands_are_traced<X...>::checked);
    return symbol<shape<>>{detail::graph_of(x...), 0};
}

// Only for its message.
template <class X>
struct concat_takes { // a class, so that every compiler prints the type
    static_assert(detail::never<X>,
                  "castnet: concat takes tensors one by one, cn::concat(a, b), and joins their "
                  "channels or last axis; cn::concatenate<axis>(a, b) joins another axis; see "
                  "concat_takes<given>");
};
template <class X = detail::in_braces>
constexpr auto concat(X const&) {
    void(concat_takes<X>{});
    return symbol<shape<>>{};
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
