// Arguments of a kernel's launcher besides the context: k(launch, tables, context).
#pragma once

#include <castnet/device/ir.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet::cuda {

using tables = launch_tables;

// Arguments of a step, in device memory.
struct step_values {
    std::uint32_t step;         // selects dropout's random numbers
    std::uint32_t first_sample; // of this replica, in the batch of all
    double share = 1;           // this replica's share of the samples present
};

// The images of a batch that a window slides over.
template <class Context>
CASTNET_HD std::ptrdiff_t images_of(window const& w, Context const& c) {
    return c.samples * w.images;
}

} // namespace castnet::cuda
