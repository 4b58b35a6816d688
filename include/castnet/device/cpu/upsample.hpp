// Up-sampling, by copies or bilinear, forward and backward, by rows of the results.
#pragma once

#include <castnet/cpu/panel.hpp>
#include <castnet/device/cpu/image_loops.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/window_range.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
void upsample(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    std::ptrdiff_t const row = std::ptrdiff_t{w.out_width} * w.channels;
    for_each_rows(w.out_height, w, c, [&](std::ptrdiff_t i, range rows) {
        for (std::ptrdiff_t y = rows.first; y < rows.last; ++y) {
            T* out = to + i * out_count(w) + y * row;
            if (y > rows.first && y % w.kernel_h != 0) {
                std::copy_n(out - row, row, out);
                continue;
            }
            T const* in =
                from + i * in_count(w) + y / w.kernel_h * std::ptrdiff_t{w.width} * w.channels;
            for (int x = 0; x < w.width; ++x, in += w.channels, out += w.kernel_w * w.channels) {
                for_each_vector<T, true>(
                    w.channels, [&](auto some, int channel) __attribute__((always_inline)) {
                        auto const value = some.at(in + channel);
                        for (int copy = 0; copy < w.kernel_w; ++copy) {
                            some.at(out + copy * w.channels + channel) = value;
                        }
                    });
            }
        }
    });
}

template <class T>
void upsample_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const g = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_rows(w.height, w, c, [&](std::ptrdiff_t i, range rows) {
        T const* const dy = g + i * out_count(w);
        T* dx = to + i * in_count(w) + rows.first * w.width * w.channels;
        for (int y = int(rows.first); y < rows.last; ++y) {
            pixel_range const down{y * w.kernel_h, (y + 1) * w.kernel_h};
            for (int x = 0; x < w.width; ++x, dx += w.channels) {
                pixel_range const across{x * w.kernel_w, (x + 1) * w.kernel_w};
                for_each_vector<T, true>(
                    w.channels, [&](auto some, int channel) __attribute__((always_inline)) {
                        some.at(dx + channel) =
                            sum_of(some, dy + channel, w.out_width, w.channels, down, across);
                    });
            }
        }
    });
}

// The same where fewer channels than a vector has elements are copied in places that scratch memory
// holds: vectors lie along the rows of the large image, and of their sums neighbours are added up.
template <class T>
constexpr bool sums_rows_first(window const& w) {
    return w.channels < simd<T>::width &&
           std::ptrdiff_t{w.kernel_w} * w.channels <= panel_scratch<T>::size;
}
template <class T>
void upsample_gradient_by_rows(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const g = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    std::ptrdiff_t const copies = std::ptrdiff_t{w.kernel_w} * w.channels, row = w.width * copies,
                         columns = panel_scratch<T>::size / copies;
    for_each_rows(w.height, w, c, [&](std::ptrdiff_t i, range rows) {
        panel_scratch<T> sums;
        T const* dy = g + i * out_count(w) + rows.first * w.kernel_h * row;
        T* dx = to + i * in_count(w) + rows.first * w.width * w.channels;
        for (std::ptrdiff_t y = rows.first; y < rows.last; ++y, dy += (w.kernel_h - 1) * row) {
            for (std::ptrdiff_t x = 0; x < w.width; x += columns) {
                std::ptrdiff_t const pixels = std::min(columns, w.width - x), run = pixels * copies;
                std::copy_n(dy, run, sums.data);
                for (int below = 1; below < w.kernel_h; ++below) {
                    for (std::ptrdiff_t k = 0; k < run; ++k) {
                        sums.data[k] += dy[below * row + k];
                    }
                }
                dy += run;
                T const* sum = sums.data;
                for (std::ptrdiff_t n = 0; n < pixels; ++n, sum += copies, dx += w.channels) {
                    for (int channel = 0; channel < w.channels; ++channel) {
                        T all = sum[channel];
                        for (std::ptrdiff_t k = channel + w.channels; k < copies; k += w.channels) {
                            all += sum[k];
                        }
                        dx[channel] = all;
                    }
                }
            }
        }
    });
}

template <class T>
void upsample_bilinear(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    std::ptrdiff_t const in_row = std::ptrdiff_t{w.width} * w.channels;
    for_each_rows(w.out_height, w, c, [&](std::ptrdiff_t i, range rows) {
        constexpr int at_once = 64;
        interpolated<T> columns[at_once];
        for (int first = 0; first < w.out_width; first += at_once) {
            int const count = std::min(at_once, w.out_width - first);
            for (int x = 0; x < count; ++x) {
                columns[x] = interpolate<T>(first + x, w.kernel_w, w.width);
            }
            for (int y = int(rows.first); y < rows.last; ++y) {
                auto const row = interpolate<T>(y, w.kernel_h, w.height);
                T const* const upper = from + i * in_count(w) + row.first * in_row;
                T const* const lower = from + i * in_count(w) + row.second * in_row;
                T* out =
                    to + i * out_count(w) + (std::ptrdiff_t{y} * w.out_width + first) * w.channels;
                for (int x = 0; x < count; ++x, out += w.channels) {
                    interpolated<T> const& column = columns[x];
                    std::ptrdiff_t const left = std::ptrdiff_t{column.first} * w.channels;
                    std::ptrdiff_t const right = std::ptrdiff_t{column.second} * w.channels;
                    for_each_vector<T, true>(
                        w.channels, [&](auto some, int channel) __attribute__((always_inline)) {
                            auto const between = [&](T const* at) __attribute__((always_inline)) {
                                return (T(1) - column.share) * some.at(at + left + channel) +
                                       column.share * some.at(at + right + channel);
                            };
                            some.at(out + channel) =
                                (T(1) - row.share) * between(upper) + row.share * between(lower);
                        });
                }
            }
        }
    });
}

// Down the columns first: what a row of the small image has of the rows of the large one; and then
// along that row.
template <class T>
void upsample_bilinear_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const g = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    std::ptrdiff_t const out_row = std::ptrdiff_t{w.out_width} * w.channels;
    using part = panel_scratch<T>;
    auto const channels = int(std::min<std::ptrdiff_t>(w.channels, part::size));
    auto const columns = int(std::min<std::ptrdiff_t>(w.out_width, part::size / channels));
    for_each_rows(w.height, w, c, [&](std::ptrdiff_t i, range rows) {
        part down;
        // Some channels of some columns of the large image; all channels, if of several columns.
        auto const add = [&](int y, int first, int last, int channel, int count) {
            T const* const dy = g + i * out_count(w) + std::ptrdiff_t{first} * w.channels + channel;
            T* const dx = to + i * in_count(w) + std::ptrdiff_t{y} * w.width * w.channels + channel;
            std::ptrdiff_t const run = std::ptrdiff_t{last - first} * count;
            std::fill_n(down.data, run, T(0));
            pixel_range const from = interpolated_from(y, w.kernel_h, w.height);
            for (int r = from.first; r < from.last; ++r) {
                T const share = interpolate<T>(r, w.kernel_h, w.height).weight(y);
                for (std::ptrdiff_t k = 0; k < run; ++k) {
                    down.data[k] += share * dy[r * out_row + k];
                }
            }
            T const* sum = down.data;
            for (int x = first; x < last; ++x, sum += count) {
                auto const column = interpolate<T>(x, w.kernel_w, w.width);
                T* const left = dx + std::ptrdiff_t{column.first} * w.channels;
                T* const right = dx + std::ptrdiff_t{column.second} * w.channels;
                for (int k = 0; k < count; ++k) {
                    left[k] += (T(1) - column.share) * sum[k];
                }
                for (int k = 0; k < count; ++k) {
                    right[k] += column.share * sum[k];
                }
            }
        };
        T* const image = to + i * in_count(w);
        std::ptrdiff_t const in_row = std::ptrdiff_t{w.width} * w.channels;
        std::fill(image + rows.first * in_row, image + rows.last * in_row, T(0));
        for (int y = int(rows.first); y < rows.last; ++y) {
            for (int x = 0; x < w.out_width; x += columns) {
                for (int channel = 0; channel < w.channels; channel += channels) {
                    add(y, x, std::min(x + columns, w.out_width), channel,
                        std::min(channels, w.channels - channel));
                }
            }
        }
    });
}

template <class T>
struct kernel_for<T, op::upsample> {
    static constexpr kernel<T> of(kernel_launch const& s, window const* windows) {
        return {windows[s.window].bilinear ? &upsample_bilinear<T> : &upsample<T>};
    }
};
template <class T>
struct kernel_for<T, op::upsample_gradient> {
    static constexpr kernel<T> of(kernel_launch const& s, window const* windows) {
        window const& w = windows[s.window];
        return {w.bilinear              ? &upsample_bilinear_gradient<T>
                : sums_rows_first<T>(w) ? &upsample_gradient_by_rows<T>
                                        : &upsample_gradient<T>};
    }
};

} // namespace castnet::cpu::inline CASTNET_TARGET
