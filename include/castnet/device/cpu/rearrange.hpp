// Operations that only move elements: reshape between orders in memory, join, cut, turn around.
#pragma once

#include <castnet/cpu/transpose.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/sample_order.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
void reshape(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    std::ptrdiff_t const count = from.size.count();
    std::ptrdiff_t const samples = to.size.sample ? c.samples : 1;
    parallel_for(samples, double(samples * count), [&](std::ptrdiff_t sample) {
        T const* const x = c.at(from) + sample * count;
        T* const y = c.at(to) + sample * count;
        if (from.size.order != to.size.order) { // channels become the first axis or the last
            bool const to_logical = to.size.in_logical_order();
            std::ptrdiff_t const rows = to_logical ? from.size.pixels : to.size.channels;
            transpose(rows, count / rows, x, count / rows, y, rows);
            return;
        }
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            y[place_in_sample(i, to.size)] = x[place_in_sample(i, from.size)];
        }
    });
}

template <class T>
void concat(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const& to = t.arrays[s.output];
    pixel_rows const rows = rows_of(to.size, c);
    parallel_for(rows.count, double(rows.count * to.size.channels), [&](std::ptrdiff_t i) {
        T* out = c.at(to) + rows(i) * to.size.channels;
        for (int k = 0; k < s.arrays; ++k) {
            array_ref const& from = t.arrays[s.first_array + k];
            T const* const x = c.at(from) + rows_of(from.size, c)(i) * from.row_channels();
            out = x == out ? out + from.size.channels : std::copy_n(x, from.size.channels, out);
        }
    });
}

// The channels from the attribute on, as many as the result has.
template <class T>
void slice(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    pixel_rows const rows = rows_of(to.size, c), read = rows_of(from.size, c);
    parallel_for(rows.count, double(rows.count * to.size.channels), [&](std::ptrdiff_t i) {
        std::copy_n(c.at(from) + read(i) * from.size.channels + s.attribute, to.size.channels,
                    c.at(to) + rows(i) * to.size.channels);
    });
}

// The gradient by the operand of a slice: 0 for all other channels.
template <class T>
void slice_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    pixel_rows const rows = rows_of(to.size, c), read = rows_of(from.size, c);
    parallel_for(rows.count, double(rows.count * to.size.channels), [&](std::ptrdiff_t i) {
        T* const out = c.at(to) + rows(i) * to.size.channels;
        std::fill_n(out, to.size.channels, T(0));
        std::copy_n(c.at(from) + read(i) * from.size.channels, from.size.channels,
                    out + s.attribute);
    });
}

// Groups of neighbouring channels in reverse order; the attribute says how many are a group.
template <class T>
void reverse(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    std::ptrdiff_t const rows = c.samples * to.size.pixels, width = to.size.channels;
    parallel_for(rows, double(rows * width), [&](std::ptrdiff_t row) {
        T const* const x = c.at(from) + row * width;
        T* const y = c.at(to) + row * width;
        for (std::ptrdiff_t i = 0; i < width; i += s.attribute) {
            std::copy_n(x + i, s.attribute, y + width - i - s.attribute);
        }
    });
}

// From the memory of another device.
template <class T>
void copy(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    std::copy_n(c.at(from), to.size.count() * (to.size.sample ? c.samples : 1), c.at(to));
}

template <class T>
struct kernel_for<T, op::reshape> : function_kernel<T, &reshape<T>> {};
template <class T>
struct kernel_for<T, op::concat> : function_kernel<T, &concat<T>> {};
template <class T>
struct kernel_for<T, op::slice> : function_kernel<T, &slice<T>> {};
template <class T>
struct kernel_for<T, op::slice_gradient> : function_kernel<T, &slice_gradient<T>> {};
template <class T>
struct kernel_for<T, op::reverse> : function_kernel<T, &reverse<T>> {};
template <class T>
struct kernel_for<T, op::copy> : function_kernel<T, &copy<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
