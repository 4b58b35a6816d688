// Broadcasting of operands of element-wise functions. Kernels see pixels and channels: an operand
// has a value for each of them or one for all. Others are seen with other axes as pixels, or
// repeated.
#pragma once

#include <castnet/graph/arrays.hpp>

#include <array>

namespace castnet {

// An image combines with images and numbers, a volume with volumes and numbers, never with a vector
// or a sequence, whose axes mean something else.
template <class Operand, class Result>
inline constexpr bool orders_agree =
    Operand::count == 1 || (order_of<Operand> == order_of<Result> &&
                            (Operand::rank == Result::rank || !channels_first<Result>));

// Whether kernels broadcast the operand as it is: (channels, 1, 1) and (1, height, width) in an
// image, not (1, height, 1).
template <class Operand, class Result>
inline constexpr bool axes_agree =
    pixels_of<Operand> == 1 || pixels_of<Operand> == pixels_of<Result> ||
    !shapes_agree<Operand, Result> || !orders_agree<Operand, Result>; // which has been said already

namespace detail {

// Extents of an operand, with ones in front, in the order in which a result's axes lie in memory.
template <class Result, class Operand>
inline constexpr auto extents_among = [] {
    std::array<int, Result::rank> extents{};
    for (size_t i = 0; i < Result::rank; ++i) {
        size_t const axis = channels_first<Result> ? (i + 1) % Result::rank : i;
        extents[i] = static_cast<int>(extent_from_end<Operand>(Result::rank - axis));
    }
    return extents;
}();

// Whether it has all elements along the axes [first, last) in memory, or one for all of them.
template <class Result, class Operand>
constexpr bool has_all_or_one(size_t first, size_t last) {
    constexpr auto all = extents_among<Result, Result>, own = extents_among<Result, Operand>;
    bool has_all = true, has_one = true;
    for (size_t i = first; i < last; ++i) {
        has_all = has_all && own[i] == all[i];
        has_one = has_one && own[i] == 1;
    }
    return has_all || has_one;
}

// The number of a result's outer axes in memory that all operands have or broadcast together, as
// well as the others; -1 if there is no such number.
template <class Result, class... Operands>
constexpr int outer_axes() {
    for (size_t n = 0; n <= Result::rank; ++n) {
        if (((has_all_or_one<Result, Operands>(0, n) &&
              has_all_or_one<Result, Operands>(n, Result::rank)) &&
             ...)) {
            return static_cast<int>(n);
        }
    }
    return -1;
}

// The extents of an operand whose pixels are a result's outer axes.
template <class Result, class Operand>
constexpr ir::extents with_outer_axes(int outer, bool sample) {
    ir::extents size{sample};
    constexpr auto own = extents_among<Result, Operand>;
    for (int i = 0; i < static_cast<int>(Result::rank); ++i) {
        (i < outer ? size.pixels : size.channels) *= own[size_t(i)];
    }
    return size;
}
template <class Result, class S>
constexpr int seen_with_outer_axes(ir::graph& g, symbol<S> x, int outer) {
    int const id = ir::is_drawn(g.nodes[value_id(x)].kind) ? sample_id(x) : x.id;
    return seen_as(g, id, with_outer_axes<Result, S>(outer, g.nodes[id].size.sample));
}
template <class Result, class Number>
constexpr int seen_with_outer_axes(ir::graph& g, Number x, int) {
    return operand_id(g, x);
}

// Rows of `width` elements in a row, each so many times.
constexpr int repeated_rows(ir::graph& g, int id, int rows, int width, int times) {
    ir::node n;
    n.kind = op::upsample;
    n.attribute = g.add_window({width, 1, rows, width, 1, rows * times, 1, times, 1, times});
    n.size = {g.nodes[id].size.sample, rows * times, width};
    n.in[n.operands++] = seen_as(g, id, {true, rows, width});
    return g.push(n);
}

// An operand with a value for each of a result's pixels, or one for all of them.
template <class Result, class S>
constexpr int repeated_among_pixels(ir::graph& g, symbol<S> x) {
    if constexpr (axes_agree<S, Result>) {
        return operand_id(g, x);
    } else {
        constexpr auto all = extents_among<Result, Result>, own = extents_among<Result, S>;
        int id = array_id(x), outer = 1, inner = static_cast<int>(S::count);
        for (size_t i = 0; i + 1 < Result::rank; ++i) {
            inner /= own[i];
            if (own[i] != all[i]) {
                id = repeated_rows(g, id, outer, inner, all[i]);
            }
            outer *= all[i];
        }
        return seen_as(g, id, ir::space_of<with_channels<Result, channels_of<S>>>);
    }
}
template <class Result, NumberOperand T>
constexpr int repeated_among_pixels(ir::graph& g, T x) {
    return operand_id(g, x);
}

// An element-wise function of operands of which kernels do not broadcast all as they are.
template <fn F, class Result, class... X>
constexpr symbol<Result> map_broadcast(ir::graph& g, X const&... x) {
    constexpr int outer = outer_axes<Result, typename shape_of<X>::type...>();
    ir::node n;
    n.kind = op::map;
    if constexpr (outer >= 0) {
        n.size = with_outer_axes<Result, Result>(outer, false);
        int const id = push_map(g, n, F, ir::own_function<F>(),
                                {seen_with_outer_axes<Result>(g, x, outer)...});
        return {&g, seen_as(g, id, ir::space_of<Result>)};
    } else {
        n.size = ir::space_of<Result>;
        n.size.sample = false; // unless an operand has it
        return {&g,
                push_map(g, n, F, ir::own_function<F>(), {repeated_among_pixels<Result>(g, x)...})};
    }
}

} // namespace detail
} // namespace castnet
