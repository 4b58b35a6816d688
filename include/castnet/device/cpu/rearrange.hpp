// Operations that only move elements: reshape between orders in memory,
// concatenate, slice, reverse.
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
        // both are images, whose logical order is that of channels
        std::ptrdiff_t const channels = from.size.channels, pixels = from.size.pixels;
        std::ptrdiff_t channel = 0, pixel = 0;
        for (std::ptrdiff_t i = 0; i < to.size.channels; ++i) {
            for (std::ptrdiff_t k = 0; k < to.size.pixels; ++k) {
                y[k * to.size.channels + i] = x[pixel * channels + channel];
                if (++pixel == pixels) {
                    pixel = 0;
                    ++channel;
                }
            }
        }
    });
}

// Copies at least as many neighbours as a vector has. (A vector's type as an argument of the
// template would be without its alignment.)
template <int Width, class T>
[[gnu::always_inline]] inline void copy_vectors(T const* from, std::ptrdiff_t count, T* to) {
    using V = typename vector_of<T, Width>::type;
    constexpr std::ptrdiff_t width = Width;
    for (std::ptrdiff_t i = 0;; i = std::min(i + width, count - width)) { // the last two overlap
        *reinterpret_cast<V*>(to + i) = *reinterpret_cast<V const*>(from + i);
        if (i == count - width) {
            return;
        }
    }
}

// Copies `channels` neighbours of the rows first to last - 1, which are `from_width` apart in one
// array and `to_width` in the other one: few, for each of which a call would cost too much.
template <class T>
void copy_rows(pixel_rows const& read, T const* from, std::ptrdiff_t from_width,
               pixel_rows const& written, T* to, std::ptrdiff_t to_width, std::ptrdiff_t channels,
               std::ptrdiff_t first, std::ptrdiff_t last) {
    constexpr int width = simd<T>::width;
    auto const each = [&](auto const& copy) __attribute__((always_inline)) {
        for (std::ptrdiff_t i = first; i < last; ++i) {
            copy(from + read(i) * from_width, to + written(i) * to_width);
        }
    };
    if (channels >= width) {
        each([=](T const* x, T* y) { copy_vectors<width>(x, channels, y); });
    } else if (channels >= width / 2) {
        each([=](T const* x, T* y) { copy_vectors<width / 2>(x, channels, y); });
    } else {
        each([=](T const* x, T* y) {
            for (std::ptrdiff_t i = 0; i < channels; ++i) {
                CASTNET_OPAQUE(i); // or the compiler calls memcpy
                y[i] = x[i];
            }
        });
    }
}

// Calls f(first, last) for some of these rows, which all of its copies find in the cache.
template <class F>
void share_rows(std::ptrdiff_t count, std::ptrdiff_t channels, F const& f) {
    constexpr std::ptrdiff_t together = 32;
    share_range((count + together - 1) / together, double(count * channels),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                    for (std::ptrdiff_t i = begin; i < end; ++i) {
                        f(i * together, std::min((i + 1) * together, count));
                    }
                });
}

template <class T>
void concat(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const& to = t.arrays[s.output];
    pixel_rows const rows = rows_of(to.size, c);
    share_rows(rows.count, to.size.channels, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        std::ptrdiff_t done = 0;
        for (int k = 0; k < s.arrays; ++k) {
            array_ref const& from = t.arrays[s.first_array + k];
            T const* const x = c.at(from);
            bool const is_there = x == c.at(to) + done && from.size.pixels == to.size.pixels;
            if (!is_there) {
                copy_rows(rows_of(from.size, c), x, from.row_channels(), rows, c.at(to) + done,
                          to.size.channels, from.size.channels, first, last);
            }
            done += from.size.channels;
        }
    });
}

// The channels from the attribute on, as many as the result has.
template <class T>
void slice(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    pixel_rows const rows = rows_of(to.size, c), read = rows_of(from.size, c);
    share_rows(rows.count, to.size.channels, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        copy_rows(read, c.at(from) + s.attribute, from.size.channels, rows, c.at(to),
                  to.size.channels, to.size.channels, first, last);
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
