// Sizes of an executor's memory without the parameters.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>

namespace castnet::ir {

struct executor_sizes { // the first four in elements, multiples of the device's alignment
    std::ptrdiff_t gradients = 0;
    std::ptrdiff_t state = 0; // of the optimizer, behind the gradients
    std::ptrdiff_t batch = 0, workspace = 0;
    std::ptrdiff_t samples = 0; // of a batch that may come from a data set in the device's memory
    std::ptrdiff_t totals = 0;  // sums of loss and metrics

    constexpr std::ptrdiff_t all() const { return gradients + state + batch + workspace; }
};

} // namespace castnet::ir
