// Unfolding of images along their height, and its gradient: runs of neighbouring channels move.
#pragma once

#include <castnet/device/cpu/image_loops.hpp>
#include <castnet/device/cpu/rearrange.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// Calls f(first, last) for neighbouring pixels, few enough that all places of the window find them
// in the cache.
template <class F>
void for_some_pixels(int width, F const& f) {
    constexpr int together = 32;
    for (int first = 0; first < width; first += together) {
        f(first, std::min(first + together, width));
    }
}

// Calls f(channel, what it becomes) for the channels of a pixel at the first place of the window.
template <class F>
[[gnu::always_inline]] inline void for_each_channel(window const& w, F const& f) {
    int const run = w.channels / w.groups, apart = run * w.kernel_h;
    if (run == 1) { // a loop that compilers make vectors of
        for (int g = 0; g < w.groups; ++g) {
            f(g, std::ptrdiff_t{g} * apart);
        }
        return;
    }
    for (int g = 0; g < w.groups; ++g) {
        for (int i = 0; i < run; ++i) {
            f(g * run + i, std::ptrdiff_t{g} * apart + i);
        }
    }
}

template <class T>
void unfold(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const x = c.at(t.arrays[s.first_array]);
    T* const y = c.at(t.arrays[s.output]);
    int const run = w.channels / w.groups;
    for_each_rows(w.out_height, w, c, [&](std::ptrdiff_t sample, range rows) {
        for (std::ptrdiff_t row = rows.first; row < rows.last; ++row) {
            T* const result = y + (sample * w.out_height + row) * w.width * w.filters;
            for_some_pixels(w.width, [&](int first, int last) {
                for (int k = 0; k < w.kernel_h; ++k) {
                    std::ptrdiff_t const from =
                        row * w.stride_h - w.pad_top + std::ptrdiff_t{k} * w.dilation_h;
                    bool const inside = from >= 0 && from < w.height;
                    T const* const image =
                        x + (sample * w.height + (inside ? from : 0)) * w.width * w.channels;
                    T* const to = result + k * run;
                    if (inside && w.groups == 1) {
                        pixel_rows const all{w.width, 0, 1};
                        copy_rows(all, image, w.channels, all, to, w.filters, run, first, last);
                        continue;
                    }
                    for (std::ptrdiff_t i = first; i < last; ++i) {
                        T const* const in = image + i * w.channels;
                        T* const out = to + i * w.filters;
                        for_each_channel(w, [=](int channel, std::ptrdiff_t unfolded) {
                            out[unfolded] = inside ? in[channel] : T(0);
                        });
                    }
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
    int const run = w.channels / w.groups;
    for_each_rows(w.height, w, c, [&](std::ptrdiff_t sample, range rows) {
        for (std::ptrdiff_t row = rows.first; row < rows.last; ++row) {
            T* const image = x + (sample * w.height + row) * w.width * w.channels;
            for_some_pixels(w.width, [&](int first, int last) {
                std::fill(image + std::ptrdiff_t{first} * w.channels,
                          image + std::ptrdiff_t{last} * w.channels, T(0));
                for (int k = 0; k < w.kernel_h; ++k) {
                    std::ptrdiff_t const top = row + w.pad_top - std::ptrdiff_t{k} * w.dilation_h;
                    if (top < 0 || top % w.stride_h != 0 || top / w.stride_h >= w.out_height) {
                        continue;
                    }
                    T const* const from =
                        y + (sample * w.out_height + top / w.stride_h) * w.width * w.filters +
                        k * run;
                    for (std::ptrdiff_t i = first; i < last; ++i) {
                        T const* const in = from + i * w.filters;
                        T* const out = image + i * w.channels;
                        if (w.groups == 1) {
                            for_each_vector<T>(run, [&](auto some, int n)
                                                        __attribute__((always_inline)) {
                                                            some.at(out + n) += some.at(in + n);
                                                        });
                        } else {
                            for_each_channel(w, [=](int channel, std::ptrdiff_t unfolded) {
                                out[channel] += in[unfolded];
                            });
                        }
                    }
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
