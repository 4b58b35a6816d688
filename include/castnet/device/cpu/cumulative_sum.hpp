// Sums of the channels so far, added up in double.
#pragma once

#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/threads.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
void cumulative_sum(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    std::ptrdiff_t const rows = c.samples * to.size.pixels, width = to.size.channels;
    std::ptrdiff_t const first = s.attribute > 0 ? 0 : width - 1;
    parallel_for(rows, double(rows * width), [&](std::ptrdiff_t row) {
        T const* x = c.at(from) + row * width + first;
        T* y = c.at(to) + row * width + first;
        double sum = 0;
        for (std::ptrdiff_t i = 0; i < width; ++i) {
            sum += double(*x);
            *y = T(sum);
            x += s.attribute;
            y += s.attribute;
        }
    });
}

template <class T>
struct kernel_for<T, op::cumulative_sum> : function_kernel<T, &cumulative_sum<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
