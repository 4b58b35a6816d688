// Operands of element-wise functions, repeated along the axes on which they have one element.
#pragma once

#include <castnet/graph/symbol.hpp>

#include <array>

namespace castnet::detail {

// The node of x as an array with a value for every sample, as kernels want it that go from sample
// to sample: what all samples share is repeated, and random numbers are stored, which element-wise
// functions alone draw themselves.
template <class S>
constexpr int sample_id(symbol<S> x) {
    ir::graph& g = *x.g;
    int const id = value_id(x);
    if (g.nodes[id].size.sample && !ir::is_drawn(g.nodes[id].kind)) {
        return id;
    }
    ir::extents size = ir::space_of<S>;
    size.sample = true;
    return map_node(g, fn::add, size, {id, constant_node(g, 0)});
}

// The node of the same memory with other extents.
constexpr int seen_as(ir::graph& g, int id, ir::extents const& size) {
    if (g.nodes[id].size == size) {
        return id;
    }
    ir::node n;
    n.kind = op::reshape;
    n.attribute = ir::as_stored;
    n.size = size;
    n.in[n.operands++] = id;
    return g.push(n);
}

// The extents of S, with ones in front, in the order in which the axes of To lie in memory.
template <class S, class To>
inline constexpr auto extents_among = [] {
    std::array<int, To::rank> extents{};
    for (size_t i = 0; i < To::rank; ++i) {
        size_t const axis = channels_first<To> ? (i + 1) % To::rank : i;
        extents[i] = static_cast<int>(extent_from_end<S>(To::rank - axis));
    }
    return extents;
}();

// Rows of `width` elements in a row, each so many times.
constexpr int repeated_rows(ir::graph& g, int id, int rows, int width, int times) {
    ir::node n;
    n.kind = op::upsample;
    n.attribute = g.add_window({width, 1, rows, width, 1, rows * times, 1, times, 1, times});
    n.size = {true, rows * times, width};
    n.in[n.operands++] = seen_as(g, id, {true, rows, width});
    return g.push(n);
}

// The node of x for a function whose result has the shape To. Kernels go through all pixels, for
// each of which, or for all of them, an operand has values: what it has for some of their axes only
// is repeated along the others.
template <class To, class S>
constexpr int operand_of(ir::graph& g, symbol<S> x) {
    if constexpr (pixels_of<S> == 1 || pixels_of<S> == pixels_of<To> ||
                  !castnet::shapes_agree<S, To>) {
        return value_id(x);
    } else {
        constexpr auto wanted = extents_among<To, To>;
        auto extents = extents_among<S, To>;
        int id = sample_id(x), outer = 1, inner = static_cast<int>(S::count);
        for (size_t i = 0; i + 1 < To::rank; ++i) {
            inner /= extents[i];
            if (extents[i] != wanted[i]) {
                id = repeated_rows(g, id, outer, inner, wanted[i]);
            }
            outer *= wanted[i];
        }
        return seen_as(g, id, ir::space_of<with_channels<To, channels_of<S>>>);
    }
}
template <class To, NumberOperand T>
constexpr int operand_of(ir::graph& g, T x) {
    return operand_id(g, x);
}

} // namespace castnet::detail
