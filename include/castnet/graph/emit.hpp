// Emission of nodes for operations on arrays.
#pragma once

#include <castnet/graph/operation.hpp>
#include <castnet/graph/symbol_operators.hpp>

namespace castnet {

namespace detail {

// Of samples if one of the operands is.
template <op K, class Result>
constexpr symbol<Result> emit_operation(ir::graph& g, int attribute,
                                        std::initializer_list<int> operands) {
    ir::node n = ir::graph::shaped<Result>(K, false);
    n.own = ir::own_operation<K>();
    n.attribute = attribute;
    for (int id : operands) {
        n.in[n.operands++] = id;
        n.size.sample |= g.nodes[id].size.sample;
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
