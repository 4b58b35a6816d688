// Permutation of axes: runs of neighbours change places.
#pragma once

#include <castnet/cpu/transpose.hpp>
#include <castnet/device/cpu/kernel.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
void exchange_axes(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    window const& w = t.windows[s.window];
    std::ptrdiff_t const rows = w.height, columns = w.width, run = w.channels;
    std::ptrdiff_t const one = rows * columns * run, all = c.samples * to.size.count();
    parallel_for(all / one, double(all), [&](std::ptrdiff_t i) {
        T const* const x = c.at(from) + i * one;
        T* const y = c.at(to) + i * one;
        if (run == 1) {
            transpose(rows, columns, x, columns, y, rows);
            return;
        }
        for (std::ptrdiff_t column = 0; column < columns; ++column) {
            for (std::ptrdiff_t row = 0; row < rows; ++row) {
                std::copy_n(x + (row * columns + column) * run, run,
                            y + (column * rows + row) * run);
            }
        }
    });
}

template <class T>
struct kernel_for<T, op::transpose> : function_kernel<T, &exchange_axes<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
