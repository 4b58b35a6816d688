// Fetching of what the next step of a loop over time reads of long sequences into the L2 cache,
// while the products of this step keep the processor busy. A step reads a short row of every sample
// in many arrays, which the processor does not foresee.
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/tuning.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

// For the context's iteration. Arrays that are as short as a chunk's are in the cache anyway.
// Always inline: GCC 12 drops calls of a function that only fetches.
template <class T>
[[gnu::always_inline]] inline void fetch_next_step(stage const& g, kernel_launch const* launches,
                                                   tables const& t, context<T> const& c) {
    constexpr std::ptrdiff_t line = 64 / std::ptrdiff_t{sizeof(T)};
    std::ptrdiff_t const next = c.iteration + (g.backwards ? -1 : 1);
    if (next < 0 || next >= g.iterations) {
        return;
    }
    for (int i = g.first; i < g.last; ++i) {
        kernel_launch const& s = launches[i];
        for (int k = s.first_array; k < s.first_array + s.arrays; ++k) {
            array_ref const& r = t.arrays[k];
            std::ptrdiff_t const channels = r.size.channels, row = r.row_channels(),
                                 bytes = c.samples * r.size.count() * std::ptrdiff_t{sizeof(T)};
            if (!r.size.sample || r.size.pixels != g.iterations || bytes < chunk_cache) {
                continue;
            }
            for (std::ptrdiff_t sample = 0; sample < c.samples; ++sample) {
                T const* const from = c.at(r) + (sample * g.iterations + next) * row;
                for (std::ptrdiff_t x = 0; x < channels; x += line) {
                    __builtin_prefetch(from + x, 0, 2);
                }
            }
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
