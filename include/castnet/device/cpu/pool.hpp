// Pooling, forward and backward, by rows of the results.
#pragma once

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

// Windows that lie side by side, so that no pixel lies in two of them.
constexpr bool lies_side_by_side(window const& w) {
    return w.stride_h == w.kernel_h && w.stride_w == w.kernel_w && !padded(w) && !w.adaptive;
}

// Calls f(output pixel, rows and columns of its window in the image) for some rows of the output.
template <bool TwoByTwo = false, class F>
void for_each_window(window const& w, range rows, F const& f) {
    window_axis const down = rows_of_windows(w), across = columns_of_windows(w);
    for (int oy = int(rows.first); oy < rows.last; ++oy) {
        for (int ox = 0; ox < w.out_width; ++ox) {
            std::ptrdiff_t const pixel = std::ptrdiff_t{oy} * w.out_width + ox;
            if constexpr (TwoByTwo) {
                int const y = oy * w.stride_h, x = ox * w.stride_w;
                f(pixel, pixel_range{y, y + 2}, pixel_range{x, x + 2});
            } else {
                f(pixel, down.pixels_of(oy), across.pixels_of(ox));
            }
        }
    }
}

// The first largest pixel of each window, and if its gradient is wanted, its number there.
template <class T, bool TwoByTwo, bool Numbers>
void max_pool(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    [[maybe_unused]] T* const argmax = Numbers ? c.at(t.arrays[s.output + 1]) : nullptr;
    for_each_rows(w.out_height, w, c, [&](std::ptrdiff_t i, range rows) {
        T const* const image = from + i * in_count(w);
        for_each_window<TwoByTwo>(
            w, rows,
            [&](std::ptrdiff_t pixel, pixel_range down, pixel_range across)
                __attribute__((always_inline)) {
                    std::ptrdiff_t const place = i * out_count(w) + pixel * w.channels;
                    for_each_vector<T, true>(
                        w.channels, [&](auto some, int channel) __attribute__((always_inline)) {
                            using V = typename decltype(some)::type;
                            T const* row =
                                image +
                                (std::ptrdiff_t{down.first} * w.width + across.first) * w.channels +
                                channel;
                            V best = some.at(row);
                            [[maybe_unused]] V best_pixel{}, number{};
                            for (int y = down.first; y < down.last; ++y) {
                                T const* in = row;
                                for (int x = across.first; x < across.last; ++x, in += w.channels) {
                                    V const value = some.at(in);
                                    auto const larger = value > best;
                                    best = larger ? value : best;
                                    if constexpr (Numbers) {
                                        best_pixel = larger ? number : best_pixel;
                                        number += T(1);
                                    }
                                }
                                row += std::ptrdiff_t{w.width} * w.channels;
                            }
                            some.at(to + place + channel) = best;
                            if constexpr (Numbers) {
                                some.at(argmax + place + channel) = best_pixel;
                            }
                        });
                });
    });
}

template <class T, bool TwoByTwo>
void avg_pool(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_rows(w.out_height, w, c, [&](std::ptrdiff_t i, range rows) {
        T const* const image = from + i * in_count(w);
        for_each_window<TwoByTwo>(
            w, rows,
            [&](std::ptrdiff_t pixel, pixel_range down, pixel_range across)
                __attribute__((always_inline)) {
                    T const share = one_over_count<T>(w, down, across);
                    T* const out = to + i * out_count(w) + pixel * w.channels;
                    for_each_vector<T, true>(
                        w.channels, [&](auto some, int channel) __attribute__((always_inline)) {
                            some.at(out + channel) = share * sum_of(some, image + channel, w.width,
                                                                    w.channels, down, across);
                        });
                });
    });
}

// A pixel gets its share of the gradient of each window over it.
template <class T>
void avg_pool_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    window_axis const rows_of = rows_of_windows(w), columns_of = columns_of_windows(w);
    T const* const g = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    T const of_whole = T(1) / T(w.kernel_h * w.kernel_w);
    for_each_rows(w.height, w, c, [&](std::ptrdiff_t i, range rows) {
        T const* const dy = g + i * out_count(w);
        T* dx = to + (i * w.height + rows.first) * w.width * w.channels;
        for (int y = int(rows.first); y < rows.last; ++y) {
            pixel_range const down = rows_of.windows_over(y);
            bool const whole = !w.adaptive && rows_of.are_whole(down);
            for (int x = 0; x < w.width; ++x, dx += w.channels) {
                pixel_range const across = columns_of.windows_over(x);
                if (whole && columns_of.are_whole(across)) {
                    for_each_vector<T, true>(
                        w.channels, [&](auto some, int channel) __attribute__((always_inline)) {
                            some.at(dx + channel) =
                                of_whole *
                                sum_of(some, dy + channel, w.out_width, w.channels, down, across);
                        });
                    continue;
                }
                std::fill_n(dx, w.channels, T(0));
                for (int oy = down.first; oy < down.last; ++oy) {
                    for (int ox = across.first; ox < across.last; ++ox) {
                        T const share =
                            one_over_count<T>(w, rows_of.pixels_of(oy), columns_of.pixels_of(ox));
                        T const* const from =
                            dy + (std::ptrdiff_t{oy} * w.out_width + ox) * w.channels;
                        for (int channel = 0; channel < w.channels; ++channel) {
                            dx[channel] += share * from[channel];
                        }
                    }
                }
            }
        }
    });
}

// Share of pixel `number` of a window in the window's gradient: of a maximum, the largest has all,
template <class T>
struct max_pool_share {
    T const *argmax, *gradient;

    max_pool_share(kernel_launch const& s, tables const& t, context<T> const& c)
        : argmax{c.at(t.arrays[s.first_array])}, gradient{c.at(t.arrays[s.first_array + 1])} {}

    template <class Some>
    [[gnu::always_inline]] auto of(Some some, std::ptrdiff_t place, pixel_range,
                                   pixel_range) const {
        using V = typename Some::type;
        V const best_pixel = some.at(argmax + place), all = some.at(gradient + place);
        return [=](int number) __attribute__((always_inline)) {
            return best_pixel == V{} + T(number) ? all : V{};
        };
    }
};

// and of an average, each the same.
template <class T>
struct avg_pool_share {
    window const& w;
    T const* gradient;

    avg_pool_share(kernel_launch const& s, tables const& t, context<T> const& c)
        : w{t.windows[s.window]}, gradient{c.at(t.arrays[s.first_array])} {}

    template <class Some>
    [[gnu::always_inline]] auto of(Some some, std::ptrdiff_t place, pixel_range down,
                                   pixel_range across) const {
        typename Some::type const each =
            one_over_count<T>(w, down, across) * some.at(gradient + place);
        return [=](int) __attribute__((always_inline)) { return each; };
    }
};

// Zero where windows that lie side by side leave pixels out: right of these rows of windows, and
// below the last one.
template <class T>
void clear_rest(window const& w, range rows, T* image) {
    std::ptrdiff_t const row = std::ptrdiff_t{w.width} * w.channels;
    std::ptrdiff_t const used = std::ptrdiff_t{w.out_width} * w.kernel_w * w.channels;
    for (std::ptrdiff_t y = rows.first * w.kernel_h; y < rows.last * w.kernel_h; ++y) {
        std::fill(image + y * row + used, image + (y + 1) * row, T(0));
    }
    if (rows.last == w.out_height) {
        std::fill(image + rows.last * w.kernel_h * row, image + in_count(w), T(0));
    }
}

// The pixels of windows that lie side by side are written, by rows of windows; others add up what
// they get, by rows of the image, and a window gives something to its pixels in these rows only.
template <template <class> class Share, bool SideBySide, bool TwoByTwo, class T>
void pool_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    window_axis const windows = rows_of_windows(w);
    Share<T> const share{s, t, c};
    T* const to = c.at(t.arrays[s.output]);
    std::ptrdiff_t const row = std::ptrdiff_t{w.width} * w.channels;
    for_each_rows(SideBySide ? w.out_height : w.height, w, c, [&](std::ptrdiff_t i, range rows) {
        T* const dx = to + i * in_count(w);
        range over = rows;
        if constexpr (SideBySide) {
            clear_rest(w, rows, dx);
        } else {
            std::fill(dx + rows.first * row, dx + rows.last * row, T(0));
            over = {windows.windows_over(int(rows.first)).first,
                    windows.windows_over(int(rows.last) - 1).last};
        }
        for_each_window<TwoByTwo>(
            w, over,
            [&](std::ptrdiff_t pixel, pixel_range down,
                pixel_range across) __attribute__((always_inline)) {
                std::ptrdiff_t const place = i * out_count(w) + pixel * w.channels;
                int const first = SideBySide ? down.first : std::max(down.first, int(rows.first));
                int const last = SideBySide ? down.last : std::min(down.last, int(rows.last));
                for_each_vector<T, SideBySide>(
                    w.channels, [&](auto some, int channel) __attribute__((always_inline)) {
                        auto const mine = share.of(some, place + channel, down, across);
                        int number = (first - down.first) * (across.last - across.first);
                        for (int y = first; y < last; ++y) {
                            T* out = dx + y * row + across.first * w.channels + channel;
                            for (int x = across.first; x < across.last; ++x, ++number) {
                                if constexpr (SideBySide) {
                                    some.at(out) = mine(number);
                                } else {
                                    some.at(out) += mine(number);
                                }
                                out += w.channels;
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
template <class T, template <class> class Share>
constexpr kernel<T> side_by_side_gradient_kernel(window const& w) {
    return {is_two_by_two(w) ? &pool_gradient<Share, true, true, T>
                             : &pool_gradient<Share, true, false, T>};
}
template <class T>
constexpr kernel<T> max_pool_gradient_kernel(window const& w) {
    return lies_side_by_side(w) ? side_by_side_gradient_kernel<T, max_pool_share>(w)
                                : kernel<T>{&pool_gradient<max_pool_share, false, false, T>};
}
template <class T>
constexpr kernel<T> avg_pool_gradient_kernel(window const& w) {
    return lies_side_by_side(w) ? side_by_side_gradient_kernel<T, avg_pool_share>(w)
                                : kernel<T>{&avg_pool_gradient<T>};
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
struct kernel_for<T, op::avg_pool> {
    static constexpr kernel<T> of(kernel_launch const& s, window const* windows) {
        return {is_two_by_two(windows[s.window]) ? &avg_pool<T, true> : &avg_pool<T, false>};
    }
};
template <class T>
struct kernel_for<T, op::avg_pool_gradient> {
    static constexpr kernel<T> of(kernel_launch const& s, window const* windows) {
        return avg_pool_gradient_kernel<T>(windows[s.window]);
    }
};

} // namespace castnet::cpu::inline CASTNET_TARGET
