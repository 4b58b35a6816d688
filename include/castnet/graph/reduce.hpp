// Reductions inside one sample: over all axes, over the channels (features), over the pixels.
#pragma once

#include <castnet/graph/symbol.hpp>

namespace castnet {

// The node of a reduction of x, or of x * weight, to `size`: what is 1 (or shared) there is
// reduced.
constexpr node reduce_node(int x, reduction kind, extents size, double factor = 1,
                           int weight = -1) {
    node n;
    n.kind = op::reduce;
    n.reduce = kind;
    n.operands = weight < 0 ? 1 : 2;
    n.in[0] = x;
    n.in[1] = weight;
    n.size = size;
    n.scalar = factor;
    return n;
}

namespace detail {

template <class Result, class S>
constexpr symbol<Result> reduced(symbol<S> x, reduction kind, double factor = 1) {
    graph& g = *x.g;
    bool const sample = g.nodes[x.id].size.sample;
    extents const size = graph::shaped<Result>(op::reduce, sample).size;
    return {&g, g.push(reduce_node(value_id(x), kind, size, factor))};
}

// The shape that is left when the channels (features) are reduced to one.
template <class S>
struct without_channels {
    using type = shape<>;
};
template <size_t T, size_t F>
struct without_channels<shape<T, F>> {
    using type = shape<T, 1>;
};
template <size_t C, size_t H, size_t W>
struct without_channels<shape<C, H, W>> {
    using type = shape<1, H, W>;
};
template <size_t A, size_t B, size_t C, size_t D>
struct without_channels<shape<A, B, C, D>> {
    using type = shape<A, B, C, 1>;
};

} // namespace detail

// Over all axes of a sample: one number.
template <class S>
constexpr symbol<shape<>> sum(symbol<S> x) {
    return detail::reduced<shape<>>(x, reduction::sum);
}
template <class S>
constexpr symbol<shape<>> mean(symbol<S> x) {
    return detail::reduced<shape<>>(x, reduction::sum, 1.0 / static_cast<double>(S::count));
}
template <class S>
constexpr symbol<shape<>> max(symbol<S> x) {
    return detail::reduced<shape<>>(x, reduction::max);
}

// Over the channels of an image or the last axis of anything else; (C, H, W) becomes (1, H, W).
template <class S>
constexpr auto sum_channels(symbol<S> x) {
    return detail::reduced<typename detail::without_channels<S>::type>(x, reduction::sum);
}
template <class S>
constexpr auto max_channels(symbol<S> x) {
    return detail::reduced<typename detail::without_channels<S>::type>(x, reduction::max);
}
// The same without a gradient (PyTorch's detach): for what is subtracted to keep numbers small, and
// does not change the result.
template <class S>
constexpr auto detached_max_channels(symbol<S> x) {
    auto const largest = max_channels(x);
    x.g->nodes[largest.id].attribute = detached;
    return largest;
}
// log(sum(exp(x))), computed without overflow.
template <class S>
constexpr auto log_sum_exp(symbol<S> x) {
    return detail::reduced<typename detail::without_channels<S>::type>(x, reduction::log_sum_exp);
}
// The number of the largest channel, the first at a tie; has no gradient.
template <class S>
constexpr auto argmax(symbol<S> x) {
    return detail::reduced<typename detail::without_channels<S>::type>(x, reduction::argmax);
}

// The same where one channel is larger than all others; -1 at a tie or where one is NaN.
template <class S>
constexpr auto strict_argmax(symbol<S> x) {
    return detail::reduced<typename detail::without_channels<S>::type>(x, reduction::strict_argmax);
}

// Over height and width: (C, H, W) becomes (C).
template <size_t C, size_t H, size_t W>
constexpr symbol<shape<C>> mean_pixels(symbol<shape<C, H, W>> x) {
    return detail::reduced<shape<C>>(x, reduction::sum, 1.0 / static_cast<double>(H * W));
}
template <size_t C, size_t H, size_t W>
constexpr symbol<shape<C>> max_pixels(symbol<shape<C, H, W>> x) {
    return detail::reduced<shape<C>>(x, reduction::max);
}

} // namespace castnet
