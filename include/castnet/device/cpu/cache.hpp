// Key and value caches of attention that is computed step by step.
#pragma once

#include <castnet/device/cpu/kernel.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
void cache(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &step = t.arrays[s.first_array], &to = t.arrays[s.output];
    std::ptrdiff_t const channels = to.size.channels;
    T const* const place = c.at(t.arrays[s.first_array + 1]);
    for (std::ptrdiff_t sample = 0; sample < c.samples; ++sample) {
        std::copy_n(c.at(step) + sample * channels, channels,
                    c.at(to) + sample * to.size.count() +
                        static_cast<std::ptrdiff_t>(place[sample]) * channels);
    }
}

template <class T>
struct kernel_for<T, op::cache> : function_kernel<T, &cache<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
