// Exchanges between the threads of a warp: all of its lanes take part.
#pragma once

#include <castnet/device/cuda/launch.hpp>

#include <cstdint>

namespace castnet::cuda {

#ifdef __CUDACC__

// The value of the lane whose number differs in this bit.
template <class T>
__device__ T from_lane(device_block const&, T x, int bit) {
    return __shfl_xor_sync(0xffffffffU, x, bit);
}

// A bit for each lane: whether it has given true.
__device__ inline std::uint32_t ballot(device_block const&, bool x) {
    return __ballot_sync(0xffffffffU, x);
}

#endif

// The sum, or the largest, of a number of each of so many neighbouring lanes, a power of two.
template <class Block, class T>
CASTNET_HD T sum_of_lanes(Block const& block, T x, int lanes) {
    CASTNET_UNROLL
    for (int apart = 16; apart > 0; apart /= 2) {
        if (apart < lanes) {
            x += from_lane(block, x, apart);
        }
    }
    return x;
}
template <class Block, class T>
CASTNET_HD T largest_of_lanes(Block const& block, T x, int lanes) {
    CASTNET_UNROLL
    for (int apart = 16; apart > 0; apart /= 2) {
        if (apart < lanes) {
            T const other = from_lane(block, x, apart);
            x = other > x ? other : x;
        }
    }
    return x;
}

} // namespace castnet::cuda
