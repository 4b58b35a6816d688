// Attention of all heads in one operation, which never stores the weights of all pairs (Rabe &
// Staats 2021; FlashAttention-2, Dao 2023).
//
// A kernel goes through blocks of keys with a running maximum and sum for every query. For the
// gradient it keeps the logarithm of each sum of exponentials, one number for each query and head,
// and computes the weights again: with scores s = scale q k' and their log-sum-exp l,
//
//   p = exp(s - l)   dv = p' dy   dp = dy v'   ds = p (dp - sum(dy y))   dq = scale ds k
//   dk = scale ds' q
//
// where the sum is over the features of a head. With dropout, p in dv and dp are multiplied by the
// same random numbers as the weights were. A query that sees no key gets zeros.
#pragma once

#include <castnet/graph/attention_form.hpp>
#include <castnet/graph/differentiation.hpp>
#include <castnet/graph/emit.hpp>
#include <castnet/graph/traced.hpp>

namespace castnet {

namespace detail {

// Queries (time, features), keys, values, and maybe how many keys count, a number for each sample.
// `keep` is the probability to keep a weight where the form has a stream of random numbers.
template <Shape Result, Shape Q, Shape K, Shape V, class... Lengths>
constexpr symbol<Result> fused_attention(ir::attention_form const& form, double keep, symbol<Q> q,
                                         symbol<K> k, symbol<V> v, Lengths const&... lengths) {
    auto const y = emit_operation<op::attention, Result>(
        *q.g, form.packed(), {sample_id(q), sample_id(k), sample_id(v), sample_id(lengths)...});
    y.g->nodes[y.id].scalar = keep;
    return y;
}

// Of `products` products of queries and keys with all features.
constexpr std::ptrdiff_t attention_flops(ir::node const& n, ir::graph_view const& g, int products) {
    ir::extents const q = g.nodes[n.in[0]].size, k = g.nodes[n.in[1]].size;
    std::ptrdiff_t const pairs = std::ptrdiff_t{q.pixels} * k.pixels;
    bool const causal = ir::attention_form::unpacked(n.attribute).causal;
    return 2 * pairs * products * q.channels / (causal ? 2 : 1);
}

} // namespace detail

template <>
struct operation<op::attention> {
    static constexpr char const* name = "attention";
    static constexpr operation_traits traits{.reads_attribute = true};

    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::node const n = d.at(i);
        ir::extents const q = n.size;
        ir::node sums;
        sums.kind = op::attention_log_sum_exp;
        sums.operands = 1;
        sums.in[0] = i;
        sums.size = {true, ir::attention_form::unpacked(n.attribute).heads, q.pixels};
        ir::node to_queries = n;
        to_queries.kind = op::attention_gradient;
        to_queries.size = d.at(n.in[0]).size;
        to_queries.operands = 6;
        to_queries.in[3] = i;
        to_queries.in[4] = d.nodes().push(sums);
        to_queries.in[5] = g;
        if (n.operands == 4) {
            to_queries.in[to_queries.operands++] = n.in[3];
        }
        int const dq = d.nodes().push(to_queries);
        int const dk = d.emit<op::attention_key_gradient>(n.in[1], -1, dq),
                  dv = d.emit<op::attention_key_gradient>(n.in[2], -1, dq);
        d.accumulate(n.in[0], dq);
        d.accumulate(n.in[1], dk);
        d.accumulate(n.in[2], dv);
    }
    static constexpr std::ptrdiff_t flops(ir::node const& n, ir::graph_view const& g) {
        return detail::attention_flops(n, g, 2);
    }
};
template <>
struct operation<op::attention_log_sum_exp> {
    static constexpr char const* name = "attention_log_sum_exp";
    static constexpr operation_traits traits{.stores_bf16 = false, .beside = true};
};

// Operands: queries, keys, values, the result, log_sum_exp, the gradient with respect to the
// result, and maybe lengths. Results: the gradients with respect to queries, keys and values.
template <>
struct operation<op::attention_gradient> {
    static constexpr char const* name = "attention_gradient";
    static constexpr operation_traits traits{.reads_attribute = true};
    static constexpr std::ptrdiff_t flops(ir::node const& n, ir::graph_view const& g) {
        return detail::attention_flops(n, g, 5);
    }
};
template <>
struct operation<op::attention_key_gradient> {
    static constexpr char const* name = "attention_key_gradient";
    static constexpr operation_traits traits{.beside = true};
};

} // namespace castnet
