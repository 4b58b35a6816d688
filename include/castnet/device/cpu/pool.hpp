// Pooling and up-sampling, forward and backward, sample by sample.
#pragma once

#include <castnet/core/annotations.hpp>
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

template <class T>
void max_pool(step const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        T const* const x = from + i * in_count(w);
        for_each_window(w, [&](std::ptrdiff_t pixel, int y0, int y1, int x0, int x1) {
            T* const out = to + i * out_count(w) + pixel * w.channels;
            std::copy_n(x + (std::ptrdiff_t{y0} * w.width + x0) * w.channels, w.channels, out);
            for (int y = y0; y < y1; ++y) {
                for (int xx = x0; xx < x1; ++xx) {
                    T const* const in = x + (std::ptrdiff_t{y} * w.width + xx) * w.channels;
                    for (int ch = 0; ch < w.channels; ++ch) {
                        out[ch] = in[ch] > out[ch] ? in[ch] : out[ch];
                    }
                }
            }
        });
    });
}

// Some channels of one pixel of a window: where they are the largest so far, it wins.
template <class T>
void compare_pixel(int number, T const* x, int channels, T* best, int* winner) {
    CASTNET_IVDEP
    for (int ch = 0; ch < channels; ++ch) {
        bool const larger = x[ch] > best[ch];
        best[ch] = larger ? x[ch] : best[ch];
        winner[ch] = larger ? number : winner[ch];
    }
}

// Adds the window's gradient in those channels in which this pixel won.
template <class T>
void reward_pixel(int number, int const* winner, T const* gradient, int channels, T* dx) {
    CASTNET_IVDEP
    for (int ch = 0; ch < channels; ++ch) {
        T const g = gradient[ch];
        dx[ch] += winner[ch] == number ? g : T(0);
    }
}

// The first largest pixel of each window, found again, gets the window's gradient.
template <class T>
void max_pool_gradient(step const& s, tables const& t, context<T> const& c) {
    constexpr int chunk = 64; // channels at a time
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T const* const g = c.at(t.arrays[s.first_array + 1]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        T const* const x = from + i * in_count(w);
        T* const dx = to + i * in_count(w);
        std::fill(dx, dx + in_count(w), T(0));
        for_each_window(w, [&](std::ptrdiff_t pixel, int y0, int y1, int x0, int x1) {
            T const* const dy = g + i * out_count(w) + pixel * w.channels;
            auto const for_each_pixel = [&](auto const& f) { // f(number, place of its channels)
                int number = 0;
                for (int y = y0; y < y1; ++y) {
                    for (int xx = x0; xx < x1; ++xx) {
                        f(number++, (std::ptrdiff_t{y} * w.width + xx) * w.channels);
                    }
                }
            };
            for (int first = 0; first < w.channels; first += chunk) {
                int const count = std::min(chunk, w.channels - first);
                T best[chunk];
                int winner[chunk];
                for_each_pixel([&](int number, std::ptrdiff_t place) {
                    if (number == 0) {
                        std::copy_n(x + place + first, count, best);
                        std::fill_n(winner, count, 0);
                    } else {
                        compare_pixel(number, x + place + first, count, best, winner);
                    }
                });
                for_each_pixel([&](int number, std::ptrdiff_t place) {
                    reward_pixel(number, winner, dy + first, count, dx + place + first);
                });
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
