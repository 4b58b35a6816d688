// Operations with kernels of their own, as symbols see them: products with weights, convolution,
// pooling, up-sampling, joining and reshaping. Layers (nn/) check their shapes and call these.
#pragma once

#include <castnet/core/reshape.hpp>
#include <castnet/graph/symbol.hpp>

namespace castnet {

namespace detail {

// The node of x as a value of every sample, as kernels want it that go from sample to sample: what
// all samples share is repeated.
template <class S>
constexpr int sample_id(symbol<S> x) {
    graph& g = *x.g;
    int const id = value_id(x);
    if (g.nodes[id].size.sample) {
        return id;
    }
    int const zero = constant_node(g, 0);
    node n = graph::shaped<S>(op::map, true);
    n.function = fn::add;
    n.operands = 2;
    n.in[0] = id;
    n.in[1] = zero;
    return g.push(n);
}

template <class Result>
constexpr symbol<Result> operation(graph& g, op kind, int attribute,
                                   std::initializer_list<int> operands) {
    node n = graph::shaped<Result>(kind, true);
    n.attribute = attribute;
    for (int id : operands) {
        n.in[n.operands++] = id;
    }
    return emit<Result>(g, n);
}

template <class Result, class S, class Weight>
constexpr symbol<Result> matmul(symbol<S> x, symbol<Weight> weight) {
    graph& g = *x.g;
    node const& w = g.nodes[weight.id];
    if (w.kind != op::parameter || g.parameters[w.attribute].kind != role::dense_weight) {
        throw "castnet: matmul() multiplies with a parameter of role::dense_weight (units, "
              "features), which new_parameter() gives; it does not multiply two activations";
    }
    return operation<Result>(g, op::matmul, -1, {sample_id(x), weight.id});
}

} // namespace detail

// The last axis times a parameter of role::dense_weight and logical shape (units, features).
template <size_t Units, size_t Features>
constexpr auto matmul(symbol<shape<Features>> x, symbol<shape<Units, Features>> weight) {
    return detail::matmul<shape<Units>>(x, weight);
}
template <size_t Units, size_t Time, size_t Features>
constexpr auto matmul(symbol<shape<Time, Features>> x, symbol<shape<Units, Features>> weight) {
    return detail::matmul<shape<Time, Units>>(x, weight);
}

// Cross-correlation with a parameter of role::conv_weight and logical shape (filters, channels /
// groups, height, width).
template <Shape Result, class S, class Weight>
constexpr auto convolve(symbol<S> x, symbol<Weight> weight, window const& w) {
    graph& g = *x.g;
    node const& n = g.nodes[weight.id];
    if (n.kind != op::parameter || g.parameters[n.attribute].kind != role::conv_weight) {
        throw "castnet: convolve() takes a parameter of role::conv_weight (filters, channels / "
              "groups, height, width), which new_parameter() gives";
    }
    return detail::operation<Result>(g, op::conv, g.add_window(w),
                                     {detail::sample_id(x), weight.id});
}

template <Shape Result, class S>
constexpr auto pool(op kind, symbol<S> x, window const& w) {
    return detail::operation<Result>(*x.g, kind, x.g->add_window(w), {detail::sample_id(x)});
}

// reshape<…>(x) of a symbol.
template <Shape From, size_t... D>
constexpr auto reshaped(symbol<From> x, shape<D...>) {
    using to = shape<D...>;
    static_assert(same_count<From, to>,
                  "castnet: reshape must keep the number of elements; see same_count<from, to>");
    if constexpr (same_count<From, to>) {
        graph& g = *x.g;
        int const id = detail::value_id(x);
        node n = graph::shaped<to>(op::reshape, g.nodes[id].size.sample);
        n.in[n.operands++] = id;
        return emit<to>(g, n);
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
