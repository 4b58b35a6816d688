// Tensors along any of their axes: slice, split, concatenate, stack, pad, reverse. The functions
// have the names that they have for tensors (castnet/tensor/); pad and reverse are layers, too.
#pragma once

#include <castnet/core/pad.hpp>
#include <castnet/graph/op/rearrange.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/tensor/mistakes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace castnet {

namespace detail {

// A tensor in memory as rows: one for each position along the axes that lie outside of this one.
template <class S, size_t Axis>
struct rows_along {
    static constexpr size_t in_memory = channels_first<S> ? (Axis + S::rank - 1) % S::rank : Axis;
    static constexpr size_t inner = [] {
        size_t count = 1; // of neighbours that move together
        for (size_t i = in_memory + 1; i < S::rank; ++i) {
            count *= S::extent[channels_first<S> ? (i + 1) % S::rank : i];
        }
        return count;
    }();
    static constexpr size_t width = S::extent[Axis] * inner;
    static constexpr int rows = static_cast<int>(S::count / width);
};

// S with another extent of this axis.
template <class S, size_t Axis, size_t Extent, size_t... I>
constexpr auto with_extent(std::index_sequence<I...>) {
    return shape_in<order_of<S>, (I == Axis ? Extent : S::extent[I])...>{};
}
template <class S, size_t Axis, size_t Extent>
using resized = decltype(with_extent<S, Axis, Extent>(std::make_index_sequence<S::rank>{}));

// S with a new axis in front of this one.
template <class S, size_t Axis, size_t Extent, size_t... I>
row_major_shape<(I < Axis    ? S::extent[I < S::rank ? I : 0]
                 : I == Axis ? Extent
                             : S::extent[I - 1])...>
    with_axis(std::index_sequence<I...>);

// The node of x as rows_along<S, Axis> has it. A vector is a row as it is, since it may be a step
// of a loop.
template <size_t Axis, class S>
constexpr int seen_as_rows(symbol<S> x) {
    using rows = rows_along<S, Axis>;
    int const id = array_id(x);
    return S::rank == 1 ? id : seen_as(*x.g, id, {true, rows::rows, static_cast<int>(rows::width)});
}

// Operation K on these rows, whose attribute is a number of positions along the axis.
template <op K, size_t Axis, class Result, class S>
constexpr symbol<Result> on_rows(symbol<S> x, size_t positions) {
    using rows = rows_along<S, Axis>;
    ir::graph& g = *x.g;
    ir::node n;
    n.kind = K;
    n.attribute = static_cast<int>(positions * rows::inner);
    n.size = {any_of_samples(x), rows::rows, static_cast<int>(Result::count) / rows::rows};
    n.in[n.operands++] = seen_as_rows<Axis>(x);
    int const id = g.push(n);
    return {&g, S::rank == 1 ? id : seen_as(g, id, ir::space_of<Result>)};
}

// Row by row, the elements of one tensor after those of the other.
template <size_t Rows, Shape Result, Shape... S>
constexpr symbol<Result> join_rows(ir::graph& g, symbol<S>... x) {
    bool const of_samples = any_of_samples(x...);
    int tensors[] = {seen_as(g, array_id(x, of_samples),
                             {true, int(Rows), static_cast<int>(S::count / Rows)})...};
    int const all = joined<shape<Rows, 1>>(g, tensors, sizeof...(S));
    return {&g, seen_as(g, all, ir::space_of<Result>)};
}

} // namespace detail

template <class S, size_t Axis>
inline constexpr bool tensor_has_axis = Axis < S::rank;
template <size_t Begin, size_t End, size_t Extent>
inline constexpr bool slice_within_axis = Begin < End && End <= Extent;
template <size_t Axis, class First, class Other>
inline constexpr bool differ_along = false;
template <size_t Axis, Shape First, Shape Other>
    requires(First::rank == Other::rank && Axis < First::rank)
inline constexpr bool differ_along<Axis, First, Other> =
    std::is_same_v<detail::resized<First, Axis, 1>, detail::resized<Other, Axis, 1>>;

namespace detail {

// Every Step-th of Count positions from Begin on: the axis is seen as Count groups of Step
// positions, each of which gives one. Groups begin before Begin where the axis ends within the
// last one, and an axis that is shorter than they are is padded.
template <size_t Axis, size_t Begin, size_t Count, size_t Step, class S>
constexpr auto spaced_slice(symbol<S> x) {
    if constexpr (S::rank == 1) {
        if (x.g->in_cell) { // of one pixel
            int each[Count];
            for (size_t i = 0; i < Count; ++i) {
                each[i] = on_rows<op::slice, 0, shape<1>>(x, Begin + i * Step).id;
            }
            return symbol<shape<Count>>{x.g, joined<shape<1>>(*x.g, each, int(Count))};
        }
    }
    constexpr size_t extent = S::extent[Axis], all = Count * Step;
    constexpr size_t start = all > extent ? 0 : std::min(Begin, extent - all);
    constexpr op fitting = all > extent ? op::slice_gradient : op::slice;
    using rows = rows_along<S, Axis>;
    constexpr size_t groups = rows::rows * Count, inner = rows::inner;
    int id = array_id(x);
    if constexpr (all != extent) {
        id = on_rows<fitting, Axis, resized<S, Axis, all>>(x, start).id;
    }
    symbol<shape<groups, Step * inner>> const grouped{
        x.g, seen_as(*x.g, id, {true, int(groups), int(Step * inner)})};
    auto const chosen =
        on_rows<op::slice, 1, shape<groups, inner>>(grouped, (Begin - start) * inner);
    using result = resized<S, Axis, Count>;
    return symbol<result>{x.g, seen_as(*x.g, chosen.id, ir::space_of<result>)};
}

} // namespace detail

template <size_t Step>
inline constexpr bool steps_forward = Step > 0;

// Positions Begin, Begin + Step, … before End of an axis (NumPy's x[…, begin:end:step, …]).
template <size_t Axis, size_t Begin, size_t End, size_t Step = 1, Shape S>
constexpr auto slice(symbol<S> x) {
    static_assert(tensor_has_axis<S, Axis>,
                  "castnet: slice: the tensor has no such axis; see tensor_has_axis<shape, axis>");
    static_assert(steps_forward<Step>, "castnet: slice: its step must be at least 1");
    if constexpr (tensor_has_axis<S, Axis>) {
        constexpr bool within = slice_within_axis<Begin, End, S::extent[Axis]>;
        static_assert(slice_within_axis<Begin, End, S::extent[Axis]>,
                      "castnet: slice: it is empty or reaches beyond the axis; see "
                      "slice_within_axis<begin, end, extent>");
        constexpr size_t step = std::max<size_t>(Step, 1);
        constexpr size_t count = within ? (End - Begin + step - 1) / step : 1;
        if constexpr (within && step > 1 && count > 1) {
            return detail::spaced_slice<Axis, Begin, count, step>(x);
        } else {
            return detail::on_rows<op::slice, Axis, detail::resized<S, Axis, count>>(x, Begin);
        }
    } else {
        return x;
    }
}

template <auto... Given, Shape S> // a mistake
    requires(detail::negative<Given> || ...)
constexpr auto slice(symbol<S> x) {
    return detail::written_otherwise<counts_from_first<Given...>>(x);
}

namespace detail {

// Slices of one node, whose gradients are joined.
template <size_t Axis, size_t Extent, class S, size_t... I>
constexpr auto parts_of_axis(symbol<S> x, std::index_sequence<I...>) {
    symbol<S> const all{x.g, seen_as_rows<Axis>(x)};
    return std::array{on_rows<op::slice, Axis, resized<S, Axis, Extent>>(all, I * Extent)...};
}

} // namespace detail

// Parts of equal extent along an axis: auto const [left, right] = split<0, 2>(x).
template <size_t Axis, size_t Parts, Shape S>
constexpr auto split(symbol<S> x) {
    static_assert(tensor_has_axis<S, Axis>,
                  "castnet: split: the tensor has no such axis; see tensor_has_axis<shape, axis>");
    if constexpr (tensor_has_axis<S, Axis>) {
        constexpr bool divides = parts_divide<Parts, S::extent[Axis]>;
        static_assert(parts_divide<Parts, S::extent[Axis]>,
                      "castnet: split: the extent of the axis must be a multiple of the number of "
                      "parts; see parts_divide<parts, extent>");
        constexpr size_t parts = divides ? Parts : 1;
        return detail::parts_of_axis<Axis, S::extent[Axis] / parts>(
            x, std::make_index_sequence<parts>{});
    } else {
        return std::array{x};
    }
}

// Tensors one after another along an axis in which alone they may differ. (concat joins channels.)
template <size_t Axis, Shape First, Shape... More>
    requires(sizeof...(More) > 0)
constexpr auto concatenate(symbol<First> x, symbol<More>... more) {
    static_assert((differ_along<Axis, First, More> && ...),
                  "castnet: concatenate: the tensors have no such axis or differ in others, too; "
                  "see differ_along<axis, first shape, other shape>");
    if constexpr (First::rank == 1 && (differ_along<Axis, First, More> && ...)) {
        return concat(x, more...);
    } else if constexpr ((differ_along<Axis, First, More> && ...)) {
        constexpr size_t extent = (First::extent[Axis] + ... + More::extent[Axis]);
        using rows = detail::rows_along<First, Axis>;
        return detail::join_rows<rows::rows, detail::resized<First, Axis, extent>>(*x.g, x,
                                                                                   more...);
    } else {
        return x;
    }
}
template <size_t Axis, class... X>
    requires SymbolsAndElements<X...>
constexpr auto concatenate(X const&... x) {
    return concat(x...); // which refuses them
}

template <size_t Axis, class First, class... More>
inline constexpr bool can_stack =
    Axis <= First::rank && !channels_first<First> && (std::is_same_v<First, More> && ...);

// Tensors of one shape as one, with a new axis in front of this one: stack<0>(a, b) of sequences is
// (2, time, features) and no image.
template <size_t Axis, Shape First, Shape... More>
constexpr auto stack(symbol<First> x, symbol<More>... more) {
    static_assert(can_stack<Axis, First, More...>,
                  "castnet: stack: the tensors must have the same shape, must not be images, and "
                  "need the axes before the new one; see can_stack<axis, shapes...>");
    if constexpr (can_stack<Axis, First, More...>) {
        constexpr size_t count = 1 + sizeof...(More);
        using result = decltype(detail::with_axis<First, Axis, count>(
            std::make_index_sequence<First::rank + 1>{}));
        using rows = detail::rows_along<result, Axis>;
        return detail::join_rows<rows::rows, result>(*x.g, x, more...);
    } else {
        return x;
    }
}
template <size_t Axis, class... X>
    requires SymbolsAndElements<X...>
constexpr auto stack(X const&... x) {
    return concat(x...);
}

// So many zeros before and after an axis (PyTorch's F.pad, Keras' ZeroPadding1D): pad of a symbol.
template <size_t Axis, size_t Before, size_t After, Shape S>
constexpr auto apply(pad_layer<Axis, Before, After>, symbol<S> x) {
    static_assert(tensor_has_axis<S, Axis>,
                  "castnet: pad: the tensor has no such axis; see tensor_has_axis<shape, axis>");
    if constexpr (tensor_has_axis<S, Axis>) {
        constexpr size_t extent = Before + S::extent[Axis] + After;
        return detail::on_rows<op::slice_gradient, Axis, detail::resized<S, Axis, extent>>(x,
                                                                                           Before);
    } else {
        return x;
    }
}

// The same with a number instead of zeros.
template <size_t Axis, size_t Before, size_t After, Shape S, class Value>
    requires std::is_arithmetic_v<Value>
constexpr auto apply(pad_layer<Axis, Before, After> pad, symbol<S> x, Value value) {
    auto const outside = equal(pad(x * 0 + 1), 0); // (a NaN is inside)
    return where(outside, value, pad(x));
}

// The positions of an axis in reverse order (PyTorch's flip).
template <size_t Axis>
struct reverse_layer {
    static constexpr char const* name = "reverse";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(tensor_has_axis<S, Axis>,
                      "castnet: reverse: the tensor has no such axis; see "
                      "tensor_has_axis<shape, axis>");
        if constexpr (tensor_has_axis<S, Axis>) {
            return detail::on_rows<op::reverse, Axis, S>(x, 1);
        } else {
            return x;
        }
    }
};
template <size_t Axis>
inline constexpr reverse_layer<Axis> reverse{};

} // namespace castnet
