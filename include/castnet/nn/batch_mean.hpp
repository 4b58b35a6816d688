// Means and sums over the samples of a training step's batch, those of all replicas, with which
// statistics are updated (nn/statistic.hpp).
#pragma once

#include <castnet/graph/op/reduce.hpp>

namespace castnet {

namespace detail {

// For each sample, factor / (number of samples that are present), or 0 if it is absent.
constexpr int share_of_sample(ir::graph& g, double factor = 1) {
    g.expect(g.trains(), mistake::mean_of_no_batch);
    ir::node n = ir::graph::shaped<shape<>>(op::sample_mask, true);
    n.scalar = factor;
    return g.push(n);
}
constexpr int count_of_samples(ir::graph& g) {
    return g.push(ir::graph::shaped<shape<>>(op::sample_count, false));
}

// The sum of x times a weight of each sample, over the samples and the axes that are 1 in `size`.
constexpr int sum_of_batch(ir::graph& g, int x, int weight, ir::extents size) {
    return g.push(reduce_node(x, ir::reduction::sum, size, 1, weight));
}

} // namespace detail

// The mean of each element over the samples of the batch: one tensor for all of them, of the shape
// of a sample. Samples of weight 0 are absent; all others count once, whatever their weight. It has
// a gradient. Only training steps have such a batch: where x.g->trains().
template <Shape S>
constexpr symbol<S> batch_mean(symbol<S> x) {
    ir::graph& g = *x.g;
    ir::extents size = ir::space_of<S>;
    size.sample = false;
    return {&g, detail::sum_of_batch(g, detail::sample_id(x), detail::share_of_sample(g), size)};
}

// The sum over the same samples; that of ones is their number.
template <Shape S>
constexpr symbol<S> batch_sum(symbol<S> x) {
    ir::graph& g = *x.g;
    symbol<shape<>> const share{&g, detail::share_of_sample(g)};
    ir::extents size = ir::space_of<S>;
    size.sample = false;
    return {&g, detail::sum_of_batch(g, detail::sample_id(x), (share > 0).id, size)};
}

} // namespace castnet
