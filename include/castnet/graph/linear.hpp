// Operations with kernels of their own, as symbols see them: products with weights, convolution,
// pooling, up-sampling, joining and reshaping. Layers (nn/) check their shapes and call these.
#pragma once

#include <castnet/core/reshape.hpp>
#include <castnet/graph/symbol.hpp>

namespace castnet {

namespace detail {

template <class Result, class... X>
constexpr symbol<Result> operation(op kind, int attribute, X... x) {
    graph& g = *graph_of(x...);
    bool const sample = (g.nodes[x.id].size.sample || ...);
    node n = graph::shaped<Result>(kind, sample);
    n.attribute = attribute;
    (..., void(n.in[n.operands++] = x.id));
    return emit<Result>(g, n);
}

} // namespace detail

// The last axis times a weight of logical shape (units, features).
template <size_t Units, size_t Features>
constexpr auto matmul(symbol<shape<Features>> x, symbol<shape<Units, Features>> weight) {
    return detail::operation<shape<Units>>(op::matmul, -1, x, weight);
}
template <size_t Units, size_t Time, size_t Features>
constexpr auto matmul(symbol<shape<Time, Features>> x, symbol<shape<Units, Features>> weight) {
    return detail::operation<shape<Time, Units>>(op::matmul, -1, x, weight);
}

// Cross-correlation with a weight of logical shape (filters, channels / groups, height, width).
template <Shape Result, class S, class Weight>
constexpr auto convolve(symbol<S> x, symbol<Weight> weight, window const& w) {
    return detail::operation<Result>(op::conv, x.g->add_window(w), x, weight);
}

template <Shape Result, class S>
constexpr auto pool(op kind, symbol<S> x, window const& w) {
    return detail::operation<Result>(kind, x.g->add_window(w), x);
}

// reshape<…>(x) of a symbol.
template <Shape From, size_t... D>
constexpr auto reshaped(symbol<From> x, shape<D...>) {
    using to = shape<D...>;
    static_assert(same_count<From, to>,
                  "castnet: reshape must keep the number of elements; see same_count<from, to>");
    if constexpr (same_count<From, to>) {
        return detail::operation<to>(op::reshape, -1, x);
    } else {
        return symbol<to>{x.g, x.id};
    }
}

// The same elements as seen by the broadcasting rules: (C) as (C, 1, 1).
template <size_t C>
constexpr symbol<shape<C, 1, 1>> along_channels(symbol<shape<C>> x) {
    return {x.g, x.id};
}

// 0, 1, 2, … along the channels (features) of S.
template <Shape S>
constexpr symbol<S> channel_index(graph& g) {
    return emit<S>(g, graph::shaped<S>(op::index, false));
}

// For every element independently 1 / keep with probability `keep`, else 0: a function of the seed,
// the step, this node, the sample's place in the global batch and the element.
template <Shape S>
constexpr symbol<S> bernoulli(graph& g, double keep) {
    node n = graph::shaped<S>(op::bernoulli, true);
    n.scalar = keep;
    n.attribute = g.random_streams++;
    return emit<S>(g, n);
}

} // namespace castnet
