// Products with weights and convolutions.
#pragma once

#include <castnet/graph/op/batch_matmul.hpp>

namespace castnet {

namespace detail {

constexpr bool is_parameter(ir::graph const& g, int id, role kind) {
    parameter const* const p = g.parameter_at(id);
    return p && p->kind == kind;
}

template <class Result, class S, class Weight>
constexpr symbol<Result> matmul(symbol<S> x, symbol<Weight> weight) {
    ir::graph& g = *x.g;
    if (is_parameter(g, weight.id, role::dense_weight)) {
        return emit_operation<op::matmul, Result>(g, -1, {array_id(x), weight.id});
    }
    if constexpr (matrices_agree<S, Weight>) { // both have the same number of rows and columns
        return batch_matmul<Result>(x, weight, {});
    }
    g.report(mistake::product_of_activations);
    return emit<Result>(g, ir::graph::shaped<Result>(op::index, false));
}

} // namespace detail

// The last axis of x, which is no image, times a parameter of role::dense_weight and logical shape
// (units, features). (Of two activations: graph/op/batch_matmul.hpp.)
template <Shape S, size_t Units, size_t Features>
    requires(S::rank > 0 && !channels_first<S> && channels_of<S> == Features)
constexpr auto matmul(symbol<S> x, symbol<shape<Units, Features>> weight) {
    return detail::matmul<with_channels<S, Units>>(x, weight);
}

// A window slides over the pixels of an image and the steps of a sequence.
template <class S>
inline constexpr bool slides_over = channels_first<S> || S::rank == 2;

// Cross-correlation with a parameter of role::conv_weight and logical shape (filters, channels /
// groups, height, width) or, over a sequence, (filters, channels / groups, time).
template <Shape Result, class S, class Weight>
constexpr auto convolve(symbol<S> x, symbol<Weight> weight, ir::window const& w) {
    static_assert(slides_over<S>,
                  "castnet: convolve() needs an image (channels, height, width) or a sequence "
                  "(time, features); see slides_over<input shape>");
    ir::graph& g = *x.g;
    if (!detail::is_parameter(g, weight.id, role::conv_weight)) {
        g.report(mistake::convolution_with_activation);
        return emit<Result>(g, ir::graph::shaped<Result>(op::index, false));
    }
    return detail::emit_operation<op::conv, Result>(g, g.add_window(w),
                                                    {detail::sample_id(x), weight.id});
}

// Transposed convolution, the gradient of a convolution with respect to its image: x is what window
// w makes of an image of shape Result, and weight is that convolution's, (channels of x, filters /
// groups, height, width).
template <Shape Result, class S, class Weight>
constexpr auto convolve_transposed(symbol<S> x, symbol<Weight> weight, ir::window const& w) {
    static_assert(slides_over<S>,
                  "castnet: convolve_transposed() needs an image (channels, height, width) or a "
                  "sequence (time, features); see slides_over<input shape>");
    ir::graph& g = *x.g;
    if (!detail::is_parameter(g, weight.id, role::conv_weight)) {
        g.report(mistake::convolution_with_activation);
        return emit<Result>(g, ir::graph::shaped<Result>(op::index, false));
    }
    return detail::emit_operation<op::conv_data, Result>(g, g.add_window(w),
                                                         {detail::sample_id(x), weight.id});
}

namespace detail {

// Operand of a product, for its gradient: unfolded images, several times as large as what they are
// unfolded from, are not kept but made once more.
constexpr int factor_of_gradient(ir::differentiation& d, int x) {
    ir::node const n = d.at(x);
    return n.kind == op::unfold ? d.emit<op::unfold>(x, n.attribute, n.in[0]) : x;
}

template <op Data, op Weight>
constexpr void product_gradient(ir::differentiation& d, int i, int g) {
    int const x = d.at(i).in[0], w = d.at(i).in[1], attribute = d.at(i).attribute;
    if (d.wanted(w)) { // first, since nothing else may read x
        d.accumulate(w, d.emit<Weight>(w, attribute, factor_of_gradient(d, x), g));
    }
    if (d.wanted(x)) {
        d.accumulate(x, d.emit<Data>(x, attribute, g, w));
    }
}

// Of what goes back through a product, by a gradient g and a weight w: where it is differentiated
// again.
template <op Product, op Weight>
constexpr void data_gradient(ir::differentiation& d, int i, int g) {
    int const x = d.at(i).in[0], w = d.at(i).in[1], attribute = d.at(i).attribute;
    if (d.wanted(x)) {
        d.accumulate(x, d.emit<Product>(x, attribute, g, w));
    }
    if (d.wanted(w)) {
        d.accumulate(w, d.emit<Weight>(w, attribute, g, x));
    }
}

constexpr std::ptrdiff_t flops_of_product(ir::node const& n, ir::graph_view const& g) {
    return 2 * g.nodes[n.in[0]].size.count() * n.size.channels;
}
constexpr std::ptrdiff_t flops_of_window(ir::node const& n, ir::graph_view const& g) {
    ir::window const& w = g.windows[n.attribute];
    return std::ptrdiff_t{w.images} * w.out_height * w.out_width * w.filters * w.kernel_h *
           w.kernel_w;
}
constexpr std::ptrdiff_t flops_of_convolution(ir::node const& n, ir::graph_view const& g) {
    ir::window const& w = g.windows[n.attribute];
    return 2 * flops_of_window(n, g) * (w.channels / w.groups);
}

} // namespace detail

template <>
struct operation<op::matmul> {
    static constexpr char const* name = "matmul";
    static constexpr operation_traits traits{.product = true, .by_pixels = true};
    static constexpr auto gradient = &detail::product_gradient<op::matmul_data, op::matmul_weight>;
    static constexpr auto flops = &detail::flops_of_product;
};
template <>
struct operation<op::matmul_data> {
    static constexpr char const* name = "matmul_data";
    static constexpr operation_traits traits{.product = true, .by_pixels = true};
    static constexpr auto gradient = &detail::data_gradient<op::matmul, op::matmul_weight>;
    static constexpr auto flops = &detail::flops_of_product;
};
template <>
struct operation<op::matmul_weight> {
    static constexpr char const* name = "matmul_weight";
    static constexpr operation_traits traits{.product = true, .stores_bf16 = false};
    static constexpr std::ptrdiff_t flops(ir::node const& n, ir::graph_view const& g) {
        return 2 * g.nodes[n.in[0]].size.count() * g.nodes[n.in[1]].size.channels;
    }
};

template <>
struct operation<op::conv> {
    static constexpr char const* name = "conv";
    static constexpr operation_traits traits{.product = true, .image = true, .windowed = true};
    static constexpr auto gradient = &detail::product_gradient<op::conv_data, op::conv_weight>;
    static constexpr auto flops = &detail::flops_of_convolution;
};
template <>
struct operation<op::conv_data> {
    static constexpr char const* name = "conv_data";
    static constexpr operation_traits traits{.product = true, .image = true, .windowed = true};
    static constexpr auto gradient = &detail::data_gradient<op::conv, op::conv_weight>;
    static constexpr auto flops = &detail::flops_of_convolution;
};
template <>
struct operation<op::conv_weight> {
    static constexpr char const* name = "conv_weight";
    static constexpr operation_traits traits{.product = true, .image = true, .windowed = true};
    static constexpr auto flops = &detail::flops_of_convolution;
};

} // namespace castnet
