// Gradient accumulation, for any optimizer:
//   compile(model, loss, accumulate<4>(adam{}));
// A step takes up to four times as many samples, in four batches one after the other, and adds up
// their gradients for one update. So it computes what a model with a batch four times as large
// would, but for the order of sums, in less memory: activations are those of one batch.
#pragma once

#include <castnet/optim/optimizer.hpp>

namespace castnet {

// An optimizer whose steps are of several batches; see accumulate().
template <class Optimizer, int Batches>
struct accumulated : Optimizer {
    static_assert(Batches >= 1, "castnet: accumulate<n> takes at least one batch for a step");
    static constexpr int batches_of_step = Batches;
};

namespace detail {

template <class Optimizer>
constexpr int batches_of_step() {
    if constexpr (requires { Optimizer::batches_of_step; }) {
        return Optimizer::batches_of_step;
    } else {
        return 1;
    }
}

template <bool Once, class Optimizer>
struct accumulates_once {
    static_assert(Once,
                  "castnet: accumulate<n>: this optimizer accumulates several batches already");
    static constexpr bool checked = true;
};

} // namespace detail

// The optimizer with steps of `Batches` batches (Keras' gradient_accumulation_steps; in PyTorch
// backward() several times before step()). The learning rate, schedules, clipping and callbacks are
// those of steps; the last step of an epoch has the samples that are left, dealt out to as many
// batches. Batch normalisation has statistics for each batch, and each updates those of layers.
// With strategy::accumulate, the numbers are multiplied. Costs memory for one more gradient of all
// parameters.
template <int Batches, class Optimizer>
accumulated<Optimizer, Batches> accumulate(Optimizer const& optimizer) {
    static_assert(detail::accumulates_once < detail::batches_of_step<Optimizer>() == 1,
                  Optimizer > ::checked);
    return {optimizer};
}

} // namespace castnet
