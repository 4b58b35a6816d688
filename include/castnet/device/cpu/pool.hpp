// Pooling and up-sampling, forward and backward, sample by sample.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/select.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/threads.hpp>

#include <algorithm>

namespace castnet::cpu {

// Calls f(output pixel, first and last row, first and last column of its window in the image).
template <class F>
void for_each_window(window const& w, F const& f) {
    for (int oy = 0; oy < w.out_height; ++oy) {
        for (int ox = 0; ox < w.out_width; ++ox) {
            int const y = oy * w.stride_h - w.pad_top, x = ox * w.stride_w - w.pad_left;
            f(std::ptrdiff_t{oy} * w.out_width + ox, std::max(y, 0),
              std::min(y + w.kernel_h, w.height), std::max(x, 0),
              std::min(x + w.kernel_w, w.width));
        }
    }
}

// Calls f(sample) for all samples on all threads.
template <class T, class F>
void for_each_sample(window const& w, context<T> const& c, F const& f) {
    double const work = double(c.samples) * w.height * w.width * w.channels;
    parallel_for(c.samples, work, f);
}

constexpr std::ptrdiff_t in_count(window const& w) {
    return std::ptrdiff_t{w.height} * w.width * w.channels;
}
constexpr std::ptrdiff_t out_count(window const& w) {
    return std::ptrdiff_t{w.out_height} * w.out_width * w.channels;
}

// Some channels of one pixel of a window: where they are the largest so far, it wins.
template <class T>
void compare_pixel(int number, T const* x, int channels, T* best, T* winner) {
    CASTNET_IVDEP
    for (int ch = 0; ch < channels; ++ch) {
        bool const larger = x[ch] > best[ch];
        best[ch] = select(larger, x[ch], best[ch]);
        winner[ch] = select(larger, T(number), winner[ch]);
    }
}

// The first largest pixel of each window, and where its gradient is wanted, its number there.
template <class T>
void max_pool(step const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    T* const winners = s.winner >= 0 ? c.at(t.arrays[s.winner]) : nullptr;
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        T const* const x = from + i * in_count(w);
        for_each_window(w, [&](std::ptrdiff_t pixel, int y0, int y1, int x0, int x1) {
            std::ptrdiff_t const place = i * out_count(w) + pixel * w.channels;
            std::copy_n(x + (std::ptrdiff_t{y0} * w.width + x0) * w.channels, w.channels,
                        to + place);
            if (winners) {
                std::fill_n(winners + place, w.channels, T(0));
            }
            int number = 0;
            for (int y = y0; y < y1; ++y) {
                for (int xx = x0; xx < x1; ++xx, ++number) {
                    T const* const in = x + (std::ptrdiff_t{y} * w.width + xx) * w.channels;
                    if (winners) {
                        compare_pixel(number, in, w.channels, to + place, winners + place);
                        continue;
                    }
                    for (int ch = 0; ch < w.channels; ++ch) {
                        to[place + ch] = select(in[ch] > to[place + ch], in[ch], to[place + ch]);
                    }
                }
            }
        });
    });
}

// One pixel of a window: its gradient where it won, else 0; added where windows overlap.
template <class T>
void reward_pixel(int number, T const* winner, T const* gradient, int channels, bool add, T* dx) {
    CASTNET_IVDEP
    for (int ch = 0; ch < channels; ++ch) {
        T const g = select(winner[ch] == T(number), gradient[ch], T(0));
        dx[ch] = add ? dx[ch] + g : g;
    }
}

// The winner of each window gets the window's gradient.
template <class T>
void max_pool_gradient(step const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const winners = c.at(t.arrays[s.first_array]);
    T const* const g = c.at(t.arrays[s.first_array + 1]);
    T* const to = c.at(t.arrays[s.output]);
    bool const add = w.stride_h < w.kernel_h || w.stride_w < w.kernel_w;
    bool const covered =
        !add && w.out_height * w.kernel_h == w.height && w.out_width * w.kernel_w == w.width;
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        T* const dx = to + i * in_count(w);
        if (!covered) {
            std::fill_n(dx, in_count(w), T(0));
        }
        for_each_window(w, [&](std::ptrdiff_t pixel, int y0, int y1, int x0, int x1) {
            std::ptrdiff_t const place = i * out_count(w) + pixel * w.channels;
            int number = 0;
            for (int y = y0; y < y1; ++y) {
                for (int x = x0; x < x1; ++x) {
                    reward_pixel(number++, winners + place, g + place, w.channels, add,
                                 dx + (std::ptrdiff_t{y} * w.width + x) * w.channels);
                }
            }
        });
    });
}

// One over the number of pixels that a window's average counts.
template <class T>
T share(window const& w, int y0, int y1, int x0, int x1) {
    return T(1) / T(w.count_padding ? w.kernel_h * w.kernel_w : (y1 - y0) * (x1 - x0));
}

template <class T>
void avg_pool(step const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        for_each_window(w, [&](std::ptrdiff_t pixel, int y0, int y1, int x0, int x1) {
            T* const out = to + i * out_count(w) + pixel * w.channels;
            std::fill(out, out + w.channels, T(0));
            for (int y = y0; y < y1; ++y) {
                for (int x = x0; x < x1; ++x) {
                    T const* const in =
                        from + i * in_count(w) + (std::ptrdiff_t{y} * w.width + x) * w.channels;
                    for (int ch = 0; ch < w.channels; ++ch) {
                        out[ch] += in[ch];
                    }
                }
            }
            for (int ch = 0; ch < w.channels; ++ch) {
                out[ch] *= share<T>(w, y0, y1, x0, x1);
            }
        });
    });
}

template <class T>
void avg_pool_gradient(step const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const g = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        T* const dx = to + i * in_count(w);
        std::fill(dx, dx + in_count(w), T(0));
        for_each_window(w, [&](std::ptrdiff_t pixel, int y0, int y1, int x0, int x1) {
            T const* const dy = g + i * out_count(w) + pixel * w.channels;
            for (int y = y0; y < y1; ++y) {
                for (int x = x0; x < x1; ++x) {
                    T* const in = dx + (std::ptrdiff_t{y} * w.width + x) * w.channels;
                    for (int ch = 0; ch < w.channels; ++ch) {
                        in[ch] += dy[ch] * share<T>(w, y0, y1, x0, x1);
                    }
                }
            }
        });
    });
}

// Calls f(place in the small image, place in the large image) for all pixels of the large one.
template <class F>
void for_each_copy(window const& w, F const& f) {
    for (int y = 0; y < w.out_height; ++y) {
        for (int x = 0; x < w.out_width; ++x) {
            f((std::ptrdiff_t{y / w.kernel_h} * w.width + x / w.kernel_w) * w.channels,
              (std::ptrdiff_t{y} * w.out_width + x) * w.channels);
        }
    }
}

template <class T>
void upsample(step const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        for_each_copy(w, [&](std::ptrdiff_t small, std::ptrdiff_t large) {
            std::copy_n(from + i * in_count(w) + small, w.channels, to + i * out_count(w) + large);
        });
    });
}

template <class T>
void upsample_gradient(step const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const g = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        T* const dx = to + i * in_count(w);
        std::fill(dx, dx + in_count(w), T(0));
        for_each_copy(w, [&](std::ptrdiff_t small, std::ptrdiff_t large) {
            for (int ch = 0; ch < w.channels; ++ch) {
                dx[small + ch] += g[i * out_count(w) + large + ch];
            }
        });
    });
}

} // namespace castnet::cpu
