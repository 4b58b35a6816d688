// Memory on the GPU for the parts of a reduction whose elements are split among blocks.
#pragma once

#include <castnet/device/cuda/tuning.hpp>

namespace castnet::cuda {

// The launches of a stream run one after another, so they share it.
template <class T>
struct reduction_parts {
    T* elements = nullptr;       // max_parts of them, one split after the other
    unsigned* tickets = nullptr; // max_tickets, one for each group of blocks: how many of its
                                 // splits have ended; 0 between kernels
};

} // namespace castnet::cuda
