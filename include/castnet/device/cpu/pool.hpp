// Pooling, forward and backward, sample by sample.
#pragma once

#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/image_loops.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/sliding.hpp>
#include <castnet/device/window_range.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// The usual window, whose loops the compiler unrolls.
constexpr bool is_two_by_two(window const& w) {
    return w.kernel_h == 2 && w.kernel_w == 2 && !padded(w) && !w.adaptive;
}

// Calls f(output pixel, first and last row, first and last column of its window in the image) for
// some rows of the output.
template <bool TwoByTwo = false, class F>
void for_each_window(window const& w, range rows, F const& f) {
    for (int oy = int(rows.first); oy < rows.last; ++oy) {
        for (int ox = 0; ox < w.out_width; ++ox) {
            std::ptrdiff_t const pixel = std::ptrdiff_t{oy} * w.out_width + ox;
            int const y = oy * w.stride_h - w.pad_top, x = ox * w.stride_w - w.pad_left;
            if constexpr (TwoByTwo) {
                f(pixel, y, y + 2, x, x + 2);
            } else if (w.adaptive) {
                pixel_range const down = adaptive_range(oy, w.out_height, w.height);
                pixel_range const across = adaptive_range(ox, w.out_width, w.width);
                f(pixel, down.first, down.last, across.first, across.last);
            } else {
                f(pixel, std::max(y, 0), std::min(y + w.kernel_h, w.height), std::max(x, 0),
                  std::min(x + w.kernel_w, w.width));
            }
        }
    }
}

// As many neighbouring channels as a vector has, or one.
template <class T, bool Vector>
struct some_channels {
    using type = T;
};
template <class T>
struct some_channels<T, true> {
    using type = vec<T>;
};

// Calls f(some_channels, the first of them) until all channels are done; some of them again, if
// `Again`, where that fills the last vector.
template <class T, bool Again = false, class F>
[[gnu::always_inline]] inline void for_each_vector(int channels, F const& f) {
    constexpr int width = simd<T>::width;
    int channel = 0;
    if (Again && channels >= width) {
        for (;; channel = std::min(channel + width, channels - width)) {
            f(some_channels<T, true>{}, channel);
            if (channel == channels - width) {
                return;
            }
        }
    }
    for (; channel + width <= channels; channel += width) {
        f(some_channels<T, true>{}, channel);
    }
    for (; channel < channels; ++channel) {
        CASTNET_OPAQUE(channel); // or the compiler makes vectors of the rest, too
        f(some_channels<T, false>{}, channel);
    }
}

// The first largest pixel of each window, and if its gradient is wanted, its number there.
template <class T, bool TwoByTwo, bool Numbers>
void max_pool(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    [[maybe_unused]] T* const argmax = Numbers ? c.at(t.arrays[s.output + 1]) : nullptr;
    for_each_rows(w, c, [&](std::ptrdiff_t i, range rows) {
        T const* const image = from + i * in_count(w);
        for_each_window<TwoByTwo>(
            w, rows,
            [&](std::ptrdiff_t pixel, int y0, int y1, int x0,
                int x1) __attribute__((always_inline)) {
                std::ptrdiff_t const place = i * out_count(w) + pixel * w.channels;
                for_each_vector<T, true>(
                    w.channels, [&](auto some, int channel) __attribute__((always_inline)) {
                        using V = typename decltype(some)::type;
                        T const* row =
                            image + (std::ptrdiff_t{y0} * w.width + x0) * w.channels + channel;
                        V best = *reinterpret_cast<V const*>(row);
                        [[maybe_unused]] V best_pixel{}, number{};
                        for (int y = y0; y < y1; ++y, row += std::ptrdiff_t{w.width} * w.channels) {
                            T const* in = row;
                            for (int x = x0; x < x1; ++x, in += w.channels) {
                                V const value = *reinterpret_cast<V const*>(in);
                                auto const larger = value > best;
                                best = larger ? value : best;
                                if constexpr (Numbers) {
                                    best_pixel = larger ? number : best_pixel;
                                    number += T(1);
                                }
                            }
                        }
                        *reinterpret_cast<V*>(to + place + channel) = best;
                        if constexpr (Numbers) {
                            *reinterpret_cast<V*>(argmax + place + channel) = best_pixel;
                        }
                    });
            });
    });
}

// Zero where the windows, which lie side by side, leave pixels of the image out.
template <class T>
void clear_rest(window const& w, T* image) {
    std::ptrdiff_t const row = std::ptrdiff_t{w.width} * w.channels;
    std::ptrdiff_t const used = std::ptrdiff_t{w.out_width} * w.kernel_w * w.channels;
    int const rows = w.out_height * w.kernel_h;
    for (int y = 0; y < rows; ++y) {
        std::fill(image + y * row + used, image + (y + 1) * row, T(0));
    }
    std::fill(image + rows * row, image + in_count(w), T(0));
}

// The largest pixel of each window gets the window's gradient.
template <class T, bool TwoByTwo>
void max_pool_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const argmax = c.at(t.arrays[s.first_array]);
    T const* const g = c.at(t.arrays[s.first_array + 1]);
    T* const to = c.at(t.arrays[s.output]);
    bool const add = w.adaptive || w.stride_h < w.kernel_h || w.stride_w < w.kernel_w;
    bool const side_by_side =
        !add && w.stride_h == w.kernel_h && w.stride_w == w.kernel_w && !padded(w);
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        T* const dx = to + i * in_count(w);
        if (side_by_side) {
            clear_rest(w, dx);
        } else {
            std::fill_n(dx, in_count(w), T(0));
        }
        for_each_window<TwoByTwo>(
            w, {0, w.out_height},
            [&](std::ptrdiff_t pixel, int y0, int y1, int x0, int x1)
                __attribute__((always_inline)) {
                    std::ptrdiff_t const place = i * out_count(w) + pixel * w.channels;
                    for_each_vector<T>(w.channels, [&](auto some,
                                                       int channel) __attribute__((always_inline)) {
                        using V = typename decltype(some)::type;
                        V const best_pixel = *reinterpret_cast<V const*>(argmax + place + channel);
                        V const gradient = *reinterpret_cast<V const*>(g + place + channel);
                        int number = 0;
                        for (int y = y0; y < y1; ++y) {
                            T* out = dx + (std::ptrdiff_t{y} * w.width + x0) * w.channels + channel;
                            for (int x = x0; x < x1; ++x, ++number, out += w.channels) {
                                V const mine = best_pixel == V{} + T(number) ? gradient : V{};
                                V& sum = *reinterpret_cast<V*>(out);
                                sum = add ? sum + mine : mine;
                            }
                        }
                    });
                });
    });
}

template <class T>
constexpr kernel<T> max_pool_kernel(window const& w, bool numbers) {
    if (numbers) {
        return {is_two_by_two(w) ? &max_pool<T, true, true> : &max_pool<T, false, true>};
    }
    return {is_two_by_two(w) ? &max_pool<T, true, false> : &max_pool<T, false, false>};
}
template <class T>
constexpr kernel<T> max_pool_gradient_kernel(window const& w) {
    return {is_two_by_two(w) ? &max_pool_gradient<T, true> : &max_pool_gradient<T, false>};
}

// One over the number of pixels that a window's average counts.
template <class T>
T share(window const& w, int y0, int y1, int x0, int x1) {
    return T(1) / T(w.count_padding ? w.kernel_h * w.kernel_w : (y1 - y0) * (x1 - x0));
}

template <class T>
void avg_pool(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_rows(w, c, [&](std::ptrdiff_t i, range rows) {
        for_each_window(w, rows, [&](std::ptrdiff_t pixel, int y0, int y1, int x0, int x1) {
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
void avg_pool_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const g = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        T* const dx = to + i * in_count(w);
        std::fill(dx, dx + in_count(w), T(0));
        for_each_window(
            w, {0, w.out_height}, [&](std::ptrdiff_t pixel, int y0, int y1, int x0, int x1) {
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

template <class T>
struct kernel_for<T, op::max_pool> {
    static constexpr kernel<T> of(kernel_launch const& s, window const* windows) {
        return max_pool_kernel<T>(windows[s.window], s.results > 1);
    }
};
template <class T>
struct kernel_for<T, op::max_pool_gradient> {
    static constexpr kernel<T> of(kernel_launch const& s, window const* windows) {
        return max_pool_gradient_kernel<T>(windows[s.window]);
    }
};
template <class T>
struct kernel_for<T, op::avg_pool> : function_kernel<T, &avg_pool<T>> {};
template <class T>
struct kernel_for<T, op::avg_pool_gradient> : function_kernel<T, &avg_pool_gradient<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
