// Exchanges between the threads of a warp: all of its lanes take part.
#pragma once

#include <castnet/device/cuda/launch.hpp>

#include <cstdint>

namespace castnet::cuda {

#ifdef __CUDACC__

// What the lane whose number differs in this bit has given.
__device__ inline float from_lane(device_block const&, float x, int bit) {
    return __shfl_xor_sync(0xffffffffU, x, bit);
}

// A bit for each lane: whether it has given true.
__device__ inline std::uint32_t ballot(device_block const&, bool x) {
    return __ballot_sync(0xffffffffU, x);
}

#endif

// The sum, or the largest, of a number of each of 2 … 32 neighbouring lanes.
template <int Lanes, class Block>
CASTNET_HD float sum_of_lanes(Block const& block, float x) {
    CASTNET_UNROLL
    for (int apart = Lanes / 2; apart > 0; apart /= 2) {
        x += from_lane(block, x, apart);
    }
    return x;
}
template <int Lanes, class Block>
CASTNET_HD float largest_of_lanes(Block const& block, float x) {
    CASTNET_UNROLL
    for (int apart = Lanes / 2; apart > 0; apart /= 2) {
        float const other = from_lane(block, x, apart);
        x = other > x ? other : x;
    }
    return x;
}

} // namespace castnet::cuda
