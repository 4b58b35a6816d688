// Unfolding of images along their height, and its gradient: runs of neighbouring channels move.
#pragma once

#include <castnet/device/cpu/image_loops.hpp>
#include <castnet/device/cpu/rearrange.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// Channels of a group: what moves together.
constexpr int unfolded_run(window const& w) {
    return w.channels / w.groups;
}

// Calls f(first channel, the first that it becomes or comes from) for the groups of a place of the
// window.
template <class F>
[[gnu::always_inline]] inline void for_each_unfolded(window const& w, int place, F const& f) {
    int const run = unfolded_run(w);
    for (int g = 0; g < w.groups; ++g) {
        f(g * run, (g * w.kernel_h + place) * run);
    }
}

// Calls f(first, last) for neighbouring pixels, few enough that all places of the window find them
// in the cache.
template <class F>
void for_some_pixels(int width, F const& f) {
    constexpr int together = 32;
    for (int first = 0; first < width; first += together) {
        f(first, std::min(first + together, width));
    }
}

template <class T>
void unfold(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const x = c.at(t.arrays[s.first_array]);
    T* const y = c.at(t.arrays[s.output]);
    for_each_rows(w.out_height, w, c, [&](std::ptrdiff_t sample, range rows) {
        for (std::ptrdiff_t row = rows.first; row < rows.last; ++row) {
            T* const to = y + (sample * w.out_height + row) * w.width * w.filters;
            for_some_pixels(w.width, [&](int first, int last) {
                for (int k = 0; k < w.kernel_h; ++k) {
                    std::ptrdiff_t const from = row * w.stride_h - w.pad_top + k * w.dilation;
                    bool const inside = from >= 0 && from < w.height;
                    T const* const image =
                        x + (sample * w.height + (inside ? from : 0)) * w.width * w.channels;
                    for_each_unfolded(w, k, [&](int channel, int unfolded) {
                        if (inside) {
                            copy_rows({w.width, 0, 1}, image + channel, w.channels, {w.width, 0, 1},
                                      to + unfolded, w.filters, unfolded_run(w), first, last);
                            return;
                        }
                        for (std::ptrdiff_t i = first; i < last; ++i) {
                            std::fill_n(to + i * w.filters + unfolded, unfolded_run(w), T(0));
                        }
                    });
                }
            });
        }
    });
}

template <class T>
void fold(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const y = c.at(t.arrays[s.first_array]);
    T* const x = c.at(t.arrays[s.output]);
    for_each_rows(w.height, w, c, [&](std::ptrdiff_t sample, range rows) {
        for (std::ptrdiff_t row = rows.first; row < rows.last; ++row) {
            T* const to = x + (sample * w.height + row) * w.width * w.channels;
            for_some_pixels(w.width, [&](int first, int last) {
                std::fill(to + std::ptrdiff_t{first} * w.channels,
                          to + std::ptrdiff_t{last} * w.channels, T(0));
                for (int k = 0; k < w.kernel_h; ++k) {
                    std::ptrdiff_t const top = row + w.pad_top - k * w.dilation;
                    if (top < 0 || top % w.stride_h != 0 || top / w.stride_h >= w.out_height) {
                        continue;
                    }
                    T const* const from =
                        y + (sample * w.out_height + top / w.stride_h) * w.width * w.filters;
                    for_each_unfolded(w, k, [&](int channel, int unfolded) {
                        for (std::ptrdiff_t i = first; i < last; ++i) {
                            T const* const in = from + i * w.filters + unfolded;
                            T* const out = to + i * w.channels + channel;
                            for_each_vector<T>(unfolded_run(w), [&](auto some, int n)
                                                                    __attribute__((always_inline)) {
                                                                        some.at(out + n) +=
                                                                            some.at(in + n);
                                                                    });
                        }
                    });
                }
            });
        }
    });
}

template <class T>
struct kernel_for<T, op::unfold> : function_kernel<T, &unfold<T>> {};
template <class T>
struct kernel_for<T, op::fold> : function_kernel<T, &fold<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
