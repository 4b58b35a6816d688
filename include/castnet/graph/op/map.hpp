// Element-wise functions as nodes.
#pragma once

#include <castnet/graph/differentiation.hpp>

namespace castnet {

namespace detail {

// Batch statistics are functions of x too; the sums for gamma and beta serve x as well.
constexpr void batch_norm_gradient(ir::differentiation& d, int i, int g) {
    ir::node const n = d.at(i);
    ir::extents const per_channel{false, 1, n.size.channels};
    int const x = n.in[0], gamma = n.in[3], beta = n.in[4];
    int const centred = d.times(g, d.map(fn::subtract, n.size, {x, n.in[1]}), n.size);
    int const sum_gx = // which kernels may multiply by the deviation at its end
        d.nodes().push(reduce_node(centred, ir::reduction::sum, per_channel, 1, n.in[2]));
    int const sum_g = d.sum(g, per_channel);
    d.accumulate(gamma, sum_gx);
    d.accumulate(beta, sum_g);
    if (d.wanted(x)) {
        d.accumulate(x, d.map(fn::normalize_gradient, n.size,
                              {g, x, n.in[1], n.in[2], gamma, sum_g, sum_gx, n.attribute}));
    }
}

// y * (g - sum of y * g), since the sum of all exp(x) is a function of x, too.
constexpr void softmax_gradient(ir::differentiation& d, int i, int g) {
    ir::node const n = d.at(i);
    if (d.wanted(n.in[0])) {
        int const total =
            d.nodes().push(reduce_node(g, ir::reduction::sum, d.at(n.in[1]).size, 1, i));
        d.accumulate(n.in[0], d.times(d.map(fn::subtract, n.size, {g, total}), i, n.size));
    }
}

} // namespace detail

// (The gradient of batch_norm would pass one: it is refused where one arrives.)
constexpr bool map_passes_gradient(ir::node const& n, char const* wanted) {
    unsigned const* const reads = ir::function_of(n).reads;
    for (int k = 0; k < n.operands; ++k) {
        if (wanted[n.in[k]] && (reads[k] != no_gradient || n.function == fn::normalize_gradient)) {
            return true;
        }
    }
    return false;
}

template <>
struct operation<op::map> {
    static constexpr char const* name = "map";
    static constexpr operation_traits traits{.by_pixels = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::function_entry const& f = ir::function_of(d.at(i));
        if (d.at(i).function == fn::normalize && d.at(i).attribute >= 0) {
            detail::batch_norm_gradient(d, i, g);
            return;
        }
        if (d.at(i).function == fn::normalize_gradient) {
            d.nodes().report(mistake::operation_without_gradient);
            return;
        }
        if (d.at(i).function == fn::softmax) {
            detail::softmax_gradient(d, i, g);
            return;
        }
        for (int k = 0; k < f.arity; ++k) {
            int const x = d.at(i).in[k];
            unsigned const reads = f.reads[k];
            if (!d.wanted(x) || reads == no_gradient) {
                continue;
            }
            if (reads != 0) {
                d.accumulate(x, d.chain(i, k, reads, g));
            } else { // a constant derivative: 1 or -1
                d.accumulate(x, f.slope[k] == 1 ? g : d.map(fn::negate, d.at(i).size, {g}));
            }
        }
    }
};

} // namespace castnet
