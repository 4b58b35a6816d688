// Weights as numbers that other functions than their product read.
#pragma once

#include <castnet/graph/op/rearrange.hpp>

namespace castnet {

namespace detail {

// Description of a weight's order in memory: filters and channels (units and channels of the
// flattened images), slices and taps of a slice; groups are 0 for a dense weight.
constexpr ir::window form_of(parameter const& p) {
    ir::window w;
    bool const dense = p.kind == role::dense_weight;
    w.filters = p.shape.extent[0];
    w.channels = dense ? p.shape.extent[1] / p.pixels : p.shape.extent[1];
    w.height = p.shape.rank == 5 ? p.shape.extent[2] : 1;
    w.width = (dense ? p.pixels : static_cast<int>(taps_of(p))) / w.height;
    w.groups = dense ? 0 : 1;
    return w;
}

template <Shape S, size_t... Axis>
auto in_row_major_order(std::index_sequence<Axis...>) -> row_major_shape<S::extent[Axis]...>;

} // namespace detail

// A parameter of role::dense_weight or conv_weight in logical order, (units, features) or (filters,
// channels / groups, height, width): one tensor for all samples, with a gradient. It is copied once
// in a step.
template <Shape W>
constexpr auto weight_values(symbol<W> weight) {
    using result = decltype(detail::in_row_major_order<W>(std::make_index_sequence<W::rank>{}));
    ir::graph& g = *weight.g;
    ir::node const& from = g.nodes[weight.id];
    if (from.kind != op::parameter || !is_weight(g.parameters[from.attribute].kind)) {
        return reshaped(weight, result{}); // in that order already
    }
    ir::node n = ir::graph::shaped<result>(op::weight_values, false);
    n.attribute = g.add_window(detail::form_of(g.parameters[from.attribute]));
    n.in[n.operands++] = weight.id;
    return emit<result>(g, n);
}

template <>
struct operation<op::weight_values> {
    static constexpr char const* name = "weight_values";
    static constexpr operation_traits traits{.windowed = true, .stores_bf16 = false};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        int const weight = d.at(i).in[0];
        d.accumulate(weight, d.emit<op::weight_values_gradient>(weight, d.at(i).attribute, g));
    }
};
template <>
struct operation<op::weight_values_gradient> {
    static constexpr char const* name = "weight_values_gradient";
    static constexpr operation_traits traits{.windowed = true, .stores_bf16 = false};
};

} // namespace castnet
