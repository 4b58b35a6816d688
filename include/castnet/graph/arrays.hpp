// Nodes as arrays: of every sample or one that all share, and seen with other extents.
#pragma once

#include <castnet/graph/symbol.hpp>

namespace castnet::detail {

// The node of a tensor as an array of this size, as kernels want it that are no element-wise
// functions: with a value for every sample, for which one that all share is repeated, or one that
// all share. What a function computes where it reads it, such as random numbers, is stored.
constexpr int array_node(ir::graph& g, int id, ir::extents const& size) {
    ir::node const& n = g.nodes[value_node(g, id)];
    bool const stored =
        size.sample ? !ir::is_drawn(n.kind) : n.operands > 0 || n.kind == op::parameter;
    return n.size.sample == size.sample && stored
               ? id
               : map_node(g, fn::add, size, {id, constant_node(g, 0)});
}
template <class S>
constexpr int sample_id(symbol<S> x) {
    return array_node(*x.g, x.id, ir::space_of<S>);
}
// Of every sample where x is, or where it stands beside what is.
template <class S>
constexpr int array_id(symbol<S> x, bool beside_samples = false) {
    ir::extents size = ir::space_of<S>;
    size.sample = beside_samples || x.g->nodes[x.id].size.sample;
    return array_node(*x.g, x.id, size);
}

// Whether one of these tensors has a value for every sample.
template <class... S>
constexpr bool any_of_samples(symbol<S>... x) {
    return (x.g->nodes[x.id].size.sample || ...);
}

// The node of the same memory with other pixels and channels.
constexpr int seen_as(ir::graph& g, int id, ir::extents size) {
    size.sample = g.nodes[id].size.sample;
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

} // namespace castnet::detail
