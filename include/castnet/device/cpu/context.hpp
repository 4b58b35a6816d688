// Context of a CPU kernel: the memory, and what changes from step to step.
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/plan/step.hpp>

#include <cstdint>

namespace castnet::cpu {

// How many independent accumulators kernels use where samples are summed; fixed, so that results do
// not depend on the number of threads.
inline constexpr int lanes = 8;

// Bytes that the operands and results of a lane's samples should fill at most, beside the weights:
// a part of a usual L2 cache.
inline constexpr std::ptrdiff_t lane_cache = 131072;

template <class T>
struct context {
    T* region[4]{};             // by castnet::region
    std::ptrdiff_t samples = 0; // that a kernel is to work on
    std::ptrdiff_t first = 0;   // which they are in the batch
    std::ptrdiff_t lane = 0;
    std::ptrdiff_t worker = 0; // who has a lane's values while its samples are under way
    philox_key key{};
    std::uint32_t step = 0;
    std::uint32_t first_sample = 0; // of the batch, in the batch of all replicas

    // Where the first of the samples lies.
    T* at(array_ref const& r) const {
        std::ptrdiff_t const skipped = r.lane_stride > 0 ? worker * r.lane_stride
                                       : r.size.sample   ? first * r.size.count()
                                                         : 0;
        return region[static_cast<int>(r.where)] + r.offset + skipped;
    }
    // The lane's part of a sum over samples.
    T* sum_at(array_ref const& r) const {
        return region[static_cast<int>(r.where)] + r.offset + lane * r.lane_stride;
    }
};

using tables = step_tables;

// The memory that a lane has for a step besides its sums, or nullptr where it needs none.
template <class T>
T* room_of(step const& s, tables const& t, context<T> const& c) {
    return s.room >= 0 ? c.at(t.arrays[s.room]) : nullptr;
}

// How many lanes have samples, and which: so few that each has one, or a fixed range each.
constexpr std::ptrdiff_t lanes_in_use(std::ptrdiff_t samples) {
    return samples < lanes ? samples : lanes;
}
constexpr std::ptrdiff_t lane_begin(std::ptrdiff_t samples, std::ptrdiff_t lane) {
    return samples < lanes ? lane : samples * lane / lanes;
}

} // namespace castnet::cpu
