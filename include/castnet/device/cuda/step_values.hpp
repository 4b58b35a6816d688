// Arguments of a kernel's launcher besides the context: k(step, tables, context).
#pragma once

#include <castnet/plan/step.hpp>

#include <cstdint>

namespace castnet::cuda {

using tables = step_tables;

// What changes from step to step, in device memory.
struct step_values {
    std::uint32_t step;         // numbers the random numbers of dropout
    std::uint32_t first_sample; // of this replica, in the batch of all
    double share = 1;           // of the samples that are present: those of this replica
};

} // namespace castnet::cuda
