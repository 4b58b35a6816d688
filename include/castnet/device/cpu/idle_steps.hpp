// Idle steps of a loop over time, which count for no sample: those after the end of the longest
// sequence. Carries stay as they are and no gradient arrives, so all of these steps are alike. The
// first of them is computed, and its results are those of the others.
#pragma once

#include <castnet/device/cpu/context.hpp>

#include <algorithm>
#include <cmath>

namespace castnet::cpu::inline CASTNET_TARGET {

// Steps of the longest of these samples; all of them in a loop without lengths.
template <class T>
std::ptrdiff_t longest_sequence(stage const& g, kernel_launch const* launches, tables const& t,
                                context<T> const& c) {
    for (int i = g.first; i < g.last; ++i) {
        kernel_launch const& s = launches[i];
        if (s.kind == op::feedback && s.arrays == 2) {
            T const* const lengths = c.at(t.arrays[s.first_array + 1]);
            T most = 0;
            for (std::ptrdiff_t k = 0; k < c.samples; ++k) {
                most = std::max(most, lengths[k]);
            }
            return static_cast<std::ptrdiff_t>(
                std::ceil(std::min(most, static_cast<T>(g.iterations))));
        }
    }
    return g.iterations;
}

// Copies what the context's iteration has computed to the next `count` ones.
template <class T>
void copy_step(stage const& g, kernel_launch const* launches, tables const& t, context<T> const& c,
               std::ptrdiff_t count) {
    std::ptrdiff_t const direction = g.backwards ? -1 : 1;
    for (int i = g.first; i < g.last; ++i) {
        kernel_launch const& s = launches[i];
        for (int k = s.output; k < s.output + s.results; ++k) {
            array_ref const& r = t.arrays[k];
            std::ptrdiff_t const steps = r.size.pixels, channels = r.size.channels,
                                 row = r.row > 0 ? r.row : channels;
            std::ptrdiff_t const from = c.iteration + (s.kind == op::feedback ? direction : 0);
            for (std::ptrdiff_t sample = 0; sample < c.samples && steps > 1; ++sample) {
                T* const step = c.at(r) + (sample * steps + from) * row;
                for (std::ptrdiff_t n = 1; n <= count; ++n) {
                    std::ptrdiff_t const to = n * direction;
                    if (from + to >= 0 && from + to < steps) {
                        std::copy_n(step, channels, step + to * row);
                    }
                }
            }
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
