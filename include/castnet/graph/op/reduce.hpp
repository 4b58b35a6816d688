// Reductions inside one sample: over all axes, over the channels (features), over the pixels.
#pragma once

#include <castnet/graph/differentiation.hpp>

namespace castnet {

namespace detail {

template <class Result, class S>
constexpr symbol<Result> reduced(symbol<S> x, ir::reduction kind, double factor = 1) {
    ir::graph& g = *x.g;
    bool const sample = g.nodes[x.id].size.sample;
    ir::extents const size = ir::extents_of(ir::axes_of<Result>, sample);
    return {&g, g.push(reduce_node(value_id(x), kind, size, factor))};
}

// The shape that is left when the channels (features) are reduced to one.
template <class S>
using without_channels = std::conditional_t<S::rank <= 1, shape<>, with_channels<S, 1>>;

} // namespace detail

// Over all axes of a sample: one number.
template <class S>
constexpr symbol<shape<>> sum(symbol<S> x) {
    return detail::reduced<shape<>>(x, ir::reduction::sum);
}
template <class S>
constexpr symbol<shape<>> mean(symbol<S> x) {
    return detail::reduced<shape<>>(x, ir::reduction::sum, 1.0 / static_cast<double>(S::count));
}
// Elements that are equally large share its gradient (PyTorch's amax), here and below.
template <class S>
constexpr symbol<shape<>> max(symbol<S> x) {
    return detail::reduced<shape<>>(x, ir::reduction::max);
}

// Over the channels of an image or the last axis of anything else; (C, H, W) becomes (1, H, W).
template <class S>
constexpr auto sum_channels(symbol<S> x) {
    return detail::reduced<detail::without_channels<S>>(x, ir::reduction::sum);
}
template <class S>
constexpr auto mean_channels(symbol<S> x) {
    return detail::reduced<detail::without_channels<S>>(x, ir::reduction::sum,
                                                        1.0 / static_cast<double>(channels_of<S>));
}
template <class S>
constexpr auto max_channels(symbol<S> x) {
    return detail::reduced<detail::without_channels<S>>(x, ir::reduction::max);
}
// The same without a gradient (PyTorch's detach): for what is subtracted to keep numbers small, and
// does not change the result.
template <class S>
constexpr auto detached_max_channels(symbol<S> x) {
    auto const largest = max_channels(x);
    x.g->nodes[largest.id].attribute = ir::detached;
    return largest;
}
// log(sum(exp(x))), computed without overflow.
template <class S>
constexpr auto log_sum_exp(symbol<S> x) {
    return detail::reduced<detail::without_channels<S>>(x, ir::reduction::log_sum_exp);
}
// The number of the largest channel, the first at a tie; has no gradient.
template <class S>
constexpr auto argmax_channels(symbol<S> x) {
    return detail::reduced<detail::without_channels<S>>(x, ir::reduction::argmax);
}

// The same where one channel is larger than all others; -1 at a tie or where one is NaN.
template <class S>
constexpr auto strict_argmax(symbol<S> x) {
    return detail::reduced<detail::without_channels<S>>(x, ir::reduction::strict_argmax);
}

// Over all axes but the channels: (C, H, W) becomes (C), (time, features) becomes (features).
template <Shape S>
constexpr auto mean_pixels(symbol<S> x) {
    return detail::reduced<shape<channels_of<S>>>(x, ir::reduction::sum,
                                                  1.0 / static_cast<double>(pixels_of<S>));
}
template <Shape S>
constexpr auto sum_pixels(symbol<S> x) {
    return detail::reduced<shape<channels_of<S>>>(x, ir::reduction::sum);
}
template <Shape S>
constexpr auto max_pixels(symbol<S> x) {
    return detail::reduced<shape<channels_of<S>>>(x, ir::reduction::max);
}

constexpr bool reduction_has_gradient(ir::node const& n) {
    return n.reduce != ir::reduction::argmax && n.reduce != ir::reduction::strict_argmax &&
           n.attribute != ir::detached;
}

template <>
struct operation<op::reduce> {
    static constexpr char const* name = "reduce";
    static constexpr operation_traits traits{.stores_bf16 = false, .by_pixels = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::node const n = d.at(i);
        int const x = n.in[0];
        ir::extents const size = d.at(x).size;
        int slope = -1;
        switch (n.reduce) {
        case ir::reduction::sum:
            slope = constant_node(d.nodes(), n.scalar);
            break;
        case ir::reduction::max: { // which equal elements share
            int const largest = d.map(fn::equal, size, {x, i});
            slope = d.map(fn::divide, size, {largest, d.sum(largest, n.size)});
            break;
        }
        case ir::reduction::log_sum_exp: // softmax
            slope = d.map(fn::exp, size, {d.map(fn::subtract, size, {d.again(x), i})});
            break;
        case ir::reduction::argmax:
        case ir::reduction::strict_argmax:
            return;
        }
        int const gradient = d.times(g, slope, size);
        if (n.operands == 1) {
            d.accumulate(x, gradient);
            return;
        }
        if (d.wanted(x)) {
            d.accumulate(x, d.times(gradient, n.in[1], size));
        }
        if (d.wanted(n.in[1])) {
            d.accumulate(n.in[1], d.times(gradient, x, size));
        }
    }
};

} // namespace castnet
