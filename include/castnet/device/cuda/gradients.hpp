// Kernels on gradients and statistics before and after their sums over replicas.
#pragma once

#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/step_values.hpp>

namespace castnet::cuda {

// Accumulates a batch's gradients for the last batch of the step; the first ones are copied, as are
// other values.
template <class T>
struct keep_body {
    T const* gradients;
    T* kept;
    std::ptrdiff_t count;
    bool are_first = false;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            kept[i] = are_first ? gradients[i] : kept[i] + gradients[i];
        });
    }
};

// Adds the accumulated gradients to the last batch's, and clears them.
template <class T>
struct take_kept_body {
    T* gradients;
    T* kept;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            gradients[i] += kept[i];
            kept[i] = T(0);
        });
    }
};

// Running statistics updated by this replica's samples, scaled by its share of the samples (NaN
// without samples).
template <class T>
struct weigh_body {
    T* values;
    step_values const* now;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        T const share = static_cast<T>(now->share);
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            values[i] = share > T(0) ? share * values[i] : T(0);
        });
    }
};

} // namespace castnet::cuda
