// What a CPU kernel gets: the memory, and what changes from step to step.
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/plan/step.hpp>

#include <cstdint>

namespace castnet::cpu {

// How many independent accumulators kernels use where samples are summed; fixed, so that results do
// not depend on the number of threads.
inline constexpr int lanes = 8;

// Elements that offsets are multiples of, so that vectors are aligned for every element type.
inline constexpr std::ptrdiff_t alignment = 16;
constexpr std::ptrdiff_t aligned(std::ptrdiff_t elements) {
    return castnet::aligned(elements, alignment);
}

template <class T>
struct context {
    T* region[4]{};             // by castnet::region
    std::ptrdiff_t samples = 0; // of this step; at most the batch that was planned for
    philox_key key{};
    std::uint32_t step = 0;
    std::uint32_t first_sample = 0;

    T* at(array_ref const& r) const { return region[static_cast<int>(r.where)] + r.offset; }
};

using tables = step_tables;

// How the samples of a step are dealt out to the lanes.
constexpr std::ptrdiff_t lane_begin(std::ptrdiff_t samples, std::ptrdiff_t lane) {
    return samples * lane / lanes;
}

} // namespace castnet::cpu
