// Emission of nodes for operations on samples.
#pragma once

#include <castnet/graph/operation.hpp>
#include <castnet/graph/symbol_operators.hpp>

namespace castnet {

namespace detail {

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

template <op K, class Result>
constexpr symbol<Result> emit_operation(ir::graph& g, int attribute,
                                        std::initializer_list<int> operands) {
    ir::node n = ir::graph::shaped<Result>(K, true);
    n.own = ir::own_operation<K>();
    n.attribute = attribute;
    for (int id : operands) {
        n.in[n.operands++] = id;
    }
    return emit<Result>(g, n);
}

} // namespace detail

// Operation K of these tensors, with a result of this shape.
template <op K, Shape Result, class First, class... More>
constexpr symbol<Result> apply_operation(symbol<First> x, symbol<More>... more) {
    static_assert(sizeof...(More) < ir::max_operands,
                  "castnet: an operation has at most 8 operands");
    return detail::emit_operation<K, Result>(*x.g, -1,
                                             {detail::sample_id(x), detail::sample_id(more)...});
}

} // namespace castnet
