// Delays and feedbacks of loops over time.
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/kernel.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// The first step of a sequence: its operand, or 0 where it has none.
template <class T>
void delay(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const& to = t.arrays[s.output];
    std::ptrdiff_t const channels = to.size.channels;
    T* out = c.at(to) + (s.attribute < 0 ? to.size.pixels - 1 : 0) * channels;
    for (std::ptrdiff_t sample = 0; sample < c.samples; ++sample, out += to.size.count()) {
        if (s.arrays == 0) {
            std::fill_n(out, channels, T(0));
        } else {
            std::copy_n(c.at(t.arrays[s.first_array]) + sample * channels, channels, out);
        }
    }
}

// This step of the operand becomes the next one of the result.
template <class T>
void feedback(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    std::ptrdiff_t const next = c.iteration + (s.attribute < 0 ? -1 : 1);
    if (next < 0 || next == s.space.pixels) {
        return;
    }
    std::ptrdiff_t const channels = to.size.channels;
    pixel_rows const read = rows_of(from.size, c), written = ir::rows_of(to.size, c.samples, next);
    for (std::ptrdiff_t sample = 0; sample < c.samples; ++sample) {
        std::copy_n(c.at(from) + read(sample) * channels, channels,
                    c.at(to) + written(sample) * channels);
    }
}

template <class T>
struct kernel_for<T, op::delay> : function_kernel<T, &delay<T>> {
    static constexpr bool whole(kernel_launch const&, window const*) { return true; }
};
template <class T>
struct kernel_for<T, op::feedback> : function_kernel<T, &feedback<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
