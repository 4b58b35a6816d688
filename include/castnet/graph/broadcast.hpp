// Broadcasting along any axes. Element-wise kernels see pixels and channels: an operand has a value
// for each of them or one for all. Other operands are seen with other axes as pixels, or repeated.
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

// Extents of an operand along a result's axes, from the outermost axis in memory to the innermost
// one; 1 for those that it does not have.
template <class Result, class Operand>
constexpr auto extents_in_memory() {
    std::array<int, Result::rank> extent{};
    for (size_t i = 0; i < Result::rank; ++i) {
        size_t const axis = channels_first<Result> ? (i + 1) % Result::rank : i;
        extent[i] = static_cast<int>(extent_from_end<Operand>(Result::rank - axis));
    }
    return extent;
}

// Whether it has all elements along the axes [first, last) in memory, or one for all of them.
template <class Result, class Operand>
constexpr bool has_all_or_one(size_t first, size_t last) {
    constexpr auto all = extents_in_memory<Result, Result>(),
                   own = extents_in_memory<Result, Operand>();
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
    constexpr auto own = extents_in_memory<Result, Operand>();
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

// With all of a result's elements: those of the axes that it has not are made first, as kernels
// do, and moved to their places.
template <class Result, class S>
constexpr symbol<Result> repeated(symbol<S> x) {
    constexpr auto all = extents_in_memory<Result, Result>(), own = extents_in_memory<Result, S>();
    ir::graph& g = *x.g;
    ir::list<int> wanted, now;
    for (int i = 0; i < static_cast<int>(Result::rank); ++i) {
        wanted.push(i);
        if (own[size_t(i)] != all[size_t(i)]) {
            now.push(i);
        }
    }
    for (int i = 0; i < static_cast<int>(Result::rank); ++i) {
        if (own[size_t(i)] == all[size_t(i)]) {
            now.push(i);
        }
    }
    constexpr auto count = static_cast<int>(S::count);
    int const one = seen_as(g, sample_id(x), {true, 1, count});
    int const each = map_node(g, fn::add, {true, static_cast<int>(Result::count) / count, count},
                              {one, constant_node(g, 0)});
    return {&g, permuted_node(g, each, ir::space_of<Result>, wanted, now, all.data())};
}
template <class Result, class X>
constexpr auto repeated_where_needed(X x) {
    if constexpr (!axes_agree<typename shape_of<X>::type, Result>) {
        return repeated<Result>(x);
    } else {
        return x;
    }
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
        ir::extents size = ir::space_of<Result>;
        size.sample = g.nodes[id].size.sample;
        return {&g, seen_as(g, id, size)};
    } else {
        n.size = ir::space_of<Result>;
        return {&g, push_map(g, n, F, ir::own_function<F>(),
                             {operand_id(g, repeated_where_needed<Result>(x))...})};
    }
}

} // namespace detail
} // namespace castnet
