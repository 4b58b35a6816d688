// Rows of a table: gathered by ids, and the sums of their gradients.
#pragma once

#include <castnet/device/cpu/kernel.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
void gather_rows(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &table = t.arrays[s.first_array], &ids = t.arrays[s.first_array + 1],
                    &to = t.arrays[s.output];
    std::ptrdiff_t const columns = to.size.channels, count = c.samples * to.size.pixels;
    T const *const rows = c.at(table), *const row_of = c.at(ids);
    T* const out = c.at(to);
    share_range(count, double(count * columns), [=](std::ptrdiff_t first, std::ptrdiff_t last) {
        for (std::ptrdiff_t i = first; i < last; ++i) {
            std::copy_n(rows + static_cast<std::ptrdiff_t>(row_of[i]) * columns, columns,
                        out + i * columns);
        }
    });
}

// Each thread adds up some rows of the table, whoever else works: it looks at all ids for them.
template <class T>
void scatter_rows(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &ids = t.arrays[s.first_array], &from = t.arrays[s.first_array + 1],
                    &to = t.arrays[s.output];
    std::ptrdiff_t const columns = from.size.channels, count = c.samples * from.size.pixels;
    T const *const row_of = c.at(ids), *const gradients = c.at(from);
    T* const out = c.at(to);
    T const left_out = static_cast<T>(s.attribute);
    gradient_rows* const used = c.rows_of_gradient(to);
    if (used) {
        used->begin(out, std::span{row_of, std::size_t(count)}, left_out);
    } else {
        share_range(to.size.count(), double(to.size.count()),
                    [=](std::ptrdiff_t first, std::ptrdiff_t last) {
                        std::fill(out + first, out + last, T(0));
                    });
    }
    std::ptrdiff_t const rows = used ? std::ptrdiff_t(used->used().size()) : to.size.pixels;
    share_range(rows, double(count * columns), [=](std::ptrdiff_t first, std::ptrdiff_t last) {
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            auto const row = static_cast<std::ptrdiff_t>(row_of[i]);
            std::ptrdiff_t const place = used ? used->place_of(row) : row;
            if (place < first || place >= last || row_of[i] == left_out) {
                continue;
            }
            T const* const gradient = gradients + i * columns;
            T* const sum = out + row * columns;
            for (std::ptrdiff_t k = 0; k < columns; ++k) {
                sum[k] += gradient[k];
            }
        }
    });
}

template <class T>
struct kernel_for<T, op::gather_rows> : function_kernel<T, &gather_rows<T>> {};
template <class T>
struct kernel_for<T, op::scatter_rows> : function_kernel<T, &scatter_rows<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
