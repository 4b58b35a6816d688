// Sources: values that come from outside the step, or that a kernel computes where it reads them.
#pragma once

#include <castnet/graph/operation.hpp>
#include <castnet/graph/symbol_operators.hpp>

namespace castnet {

// 0, 1, 2, … along the channels (features) of S.
template <Shape S>
constexpr symbol<S> channel_index(ir::graph& g) {
    return emit<S>(g, ir::graph::shaped<S>(op::index, false));
}

// For every element independently 1 / keep with probability `keep`, else 0: a function of the seed,
// the step, this node, the sample's place in the global batch and the element.
template <Shape S>
constexpr symbol<S> bernoulli(ir::graph& g, double keep) {
    ir::node n = ir::graph::shaped<S>(op::bernoulli, true);
    n.scalar = keep;
    n.attribute = g.random_streams++;
    return emit<S>(g, n);
}

// For every element independently a number of the standard normal distribution, in the same way.
template <Shape S>
constexpr symbol<S> standard_normal(ir::graph& g) {
    ir::node n = ir::graph::shaped<S>(op::normal, true);
    n.attribute = g.random_streams++;
    return emit<S>(g, n);
}

namespace detail {

// Values that the host feeds, or that kernels compute where they need them: on all devices.
struct source_operation {
    static constexpr operation_traits traits{
        .source = true, .everywhere = true, .stores_bf16 = false};
};

} // namespace detail

template <>
struct operation<op::input> : detail::source_operation {
    static constexpr char const* name = "input";
};
template <>
struct operation<op::target> : detail::source_operation {
    static constexpr char const* name = "target";
};
template <>
struct operation<op::sample_weight> : detail::source_operation {
    static constexpr char const* name = "sample_weight";
};
template <>
struct operation<op::sample_count> : detail::source_operation {
    static constexpr char const* name = "sample_count";
};
template <>
struct operation<op::scalar> : detail::source_operation {
    static constexpr char const* name = "scalar";
};
template <>
struct operation<op::constant> : detail::source_operation {
    static constexpr char const* name = "constant";
};
template <>
struct operation<op::index> : detail::source_operation {
    static constexpr char const* name = "index";
};
template <>
struct operation<op::sample_mask> : detail::source_operation {
    static constexpr char const* name = "sample_mask";
};
template <>
struct operation<op::bernoulli> : detail::source_operation {
    static constexpr char const* name = "bernoulli";
};
template <>
struct operation<op::normal> : detail::source_operation {
    static constexpr char const* name = "normal";
};
template <>
struct operation<op::parameter> {
    static constexpr char const* name = "parameter";
    static constexpr operation_traits traits{.source = true, .stores_bf16 = false};
};

} // namespace castnet
