// Nodes as arrays: with a value for every sample, and seen with other extents.
#pragma once

#include <castnet/graph/symbol.hpp>

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

// Whether one of these tensors has a value for every sample.
template <class... S>
constexpr bool any_of_samples(symbol<S>... x) {
    return (x.g->nodes[x.id].size.sample || ...);
}

// The node of x as an array, of every sample or one that all samples share.
template <class S>
constexpr int array_id(symbol<S> x, bool of_samples) {
    if (of_samples) {
        return sample_id(x);
    }
    ir::graph& g = *x.g;
    int const id = value_id(x);
    ir::node const& n = g.nodes[id];
    if (n.operands > 0 || n.kind == op::parameter) {
        return id;
    }
    ir::extents size = ir::space_of<S>; // of a source
    size.sample = false;
    return map_node(g, fn::add, size, {id, constant_node(g, 0)});
}
template <class S>
constexpr int array_id(symbol<S> x) {
    return array_id(x, any_of_samples(x));
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

// With those of shape S.
template <class S>
constexpr int seen_as_shape(ir::graph& g, int id) {
    ir::extents size = ir::space_of<S>;
    size.sample = g.nodes[id].size.sample;
    return seen_as(g, id, size);
}

} // namespace castnet::detail
