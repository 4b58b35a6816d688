// Permutation of axes: runs of neighbours change places.
#pragma once

#include <castnet/cpu/transpose.hpp>
#include <castnet/device/cpu/kernel.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

// The same as transpose, of a few rows.
template <int Rows, class T>
void interleave(std::ptrdiff_t columns, T const* from, T* to) {
    for (std::ptrdiff_t i = 0; i < columns; ++i) {
        for (int row = 0; row < Rows; ++row) {
            to[i * Rows + row] = from[row * columns + i];
        }
    }
}

template <class T>
void exchange_axes(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    window const& w = t.windows[s.window];
    std::ptrdiff_t const rows = w.height, columns = w.width, run = w.channels;
    std::ptrdiff_t const one = rows * columns * run, all = c.samples * to.size.count();
    auto const exchange = [&](T const* x, T* y) {
        if (run == 1 && rows == 2) {
            interleave<2>(columns, x, y);
            return;
        }
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
    };
    share_range(all / one, double(all), [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        for (std::ptrdiff_t i = first; i < last; ++i) {
            exchange(c.at(from) + i * one, c.at(to) + i * one);
        }
    });
}

template <class T>
struct kernel_for<T, op::transpose> : function_kernel<T, &exchange_axes<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
