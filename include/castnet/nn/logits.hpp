// Logits: predictions to which a loss or metric applies softmax or sigmoid itself.
#pragma once

#include <castnet/graph/symbol.hpp>

namespace castnet::detail {

// Whether this node is the result of a softmax, log_softmax or sigmoid.
constexpr bool is_probability(ir::graph const& g, int id) {
    auto const at = [&](int i) -> ir::node const& { return g.nodes[i]; };
    auto const is = [&](int i, fn f) { return at(i).kind == op::map && at(i).function == f; };
    auto const is_log_softmax = [&](int i) {
        return is(i, fn::subtract) && at(at(i).in[1]).kind == op::reduce &&
               at(at(i).in[1]).reduce == ir::reduction::log_sum_exp;
    };
    while (at(id).kind == op::reshape) {
        id = at(id).in[0];
    }
    return is(id, fn::sigmoid) || is(id, fn::log_sigmoid) || is_log_softmax(id) ||
           is(id, fn::softmax) || (is(id, fn::exp) && is_log_softmax(at(id).in[0]));
}

// Declares that x must be logits. A program whose network gives probabilities instead does not
// compile: softmax or sigmoid would be applied twice, and the network would train, but badly.
template <class S>
constexpr void takes_logits(symbol<S> x) {
    if (is_probability(*x.g, x.id)) {
        x.g->report(mistake::probabilities_as_logits);
    }
}

} // namespace castnet::detail
