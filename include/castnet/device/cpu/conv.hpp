// Convolution and its gradients as products over windows, without copying the windows: the rows of
// A are pointers into the (padded) image. Images lie as (height, width, channels), weights as
// (group, kernel height, kernel width, channels of the group, filters of the group).
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/cpu/tile.hpp>

#include <algorithm>

namespace castnet::cpu {

// A sliding window over an image that needs no padding (any more).
struct sliding {
    std::ptrdiff_t width;    // of the image
    std::ptrdiff_t channels; // of a pixel in memory
    std::ptrdiff_t out_height, out_width, out_channels;
    std::ptrdiff_t kernel_h, kernel_w, stride_h, stride_w, dilation;
    std::ptrdiff_t depth_channels; // that take part: those of one group
    std::ptrdiff_t filters;        // computed at once: those of one group

    // The pixels under the window; a row of the kernel is one run where its pixels lie together.
    depth window_depth() const {
        bool const whole_rows = dilation == 1 && depth_channels == channels;
        return {whole_rows ? kernel_w * channels : depth_channels,
                1,
                whole_rows ? 1 : kernel_w,
                dilation * channels,
                kernel_h,
                dilation * width * channels};
    }

    // Where the window for this output pixel begins.
    std::ptrdiff_t begin(std::ptrdiff_t pixel) const {
        return (pixel / out_width * stride_h * width + pixel % out_width * stride_w) * channels;
    }
};

// One image: out (pixels x filters) = windows of x times weight.
template <class T>
void slide(sliding const& w, T const* x, T const* weight, T* out) {
    depth const d = w.window_depth();
    std::ptrdiff_t const pixels = w.out_height * w.out_width;
    for (std::ptrdiff_t first = 0; first < pixels; first += tile_rows) {
        std::ptrdiff_t const rows = std::min<std::ptrdiff_t>(tile_rows, pixels - first);
        T const* a[tile_rows];
        for (std::ptrdiff_t r = 0; r < tile_rows; ++r) {
            a[r] = x + w.begin(first + std::min(r, rows - 1));
        }
        tile_row(a, d, weight, w.filters, out + first * w.out_channels, w.out_channels,
                 static_cast<int>(rows), w.filters);
    }
}

// Copies an image into a larger one of zeros, its first pixel at (top, left), its pixels `stride`
// apart; what falls outside is left away.
template <class T>
void spread(T const* x, std::ptrdiff_t height, std::ptrdiff_t width, std::ptrdiff_t channels, T* to,
            std::ptrdiff_t to_height, std::ptrdiff_t to_width, std::ptrdiff_t top,
            std::ptrdiff_t left, std::ptrdiff_t stride_h, std::ptrdiff_t stride_w) {
    std::fill(to, to + to_height * to_width * channels, T(0));
    for (std::ptrdiff_t y = 0; y < height; ++y) {
        std::ptrdiff_t const row = top + y * stride_h;
        for (std::ptrdiff_t i = 0; i < width; ++i) {
            std::ptrdiff_t const column = left + i * stride_w;
            if (row >= 0 && row < to_height && column >= 0 && column < to_width) {
                std::copy_n(x + (y * width + i) * channels, channels,
                            to + (row * to_width + column) * channels);
            }
        }
    }
}

constexpr bool padded(window const& w) {
    return w.pad_top > 0 || w.pad_left > 0 || w.pad_bottom > 0 || w.pad_right > 0;
}
constexpr std::ptrdiff_t padded_height(window const& w) {
    return w.height + w.pad_top + w.pad_bottom;
}
constexpr std::ptrdiff_t padded_width(window const& w) {
    return w.width + w.pad_left + w.pad_right;
}
constexpr std::ptrdiff_t reach(int kernel, int dilation) {
    return std::ptrdiff_t{kernel - 1} * dilation;
}
constexpr std::ptrdiff_t weight_count(window const& w) {
    return std::ptrdiff_t{w.filters} * (w.channels / w.groups) * w.kernel_h * w.kernel_w;
}

// Scratch memory: a padded image per lane; for the data gradient the spread gradient per lane and
// the turned weight; for the weight gradient a padded image and a sum per lane.
constexpr std::ptrdiff_t padded_scratch(window const& w) {
    return padded(w) ? aligned(padded_height(w) * padded_width(w) * w.channels) : 0;
}
constexpr std::ptrdiff_t conv_scratch(window const& w) {
    return lanes * padded_scratch(w);
}
constexpr std::ptrdiff_t spread_scratch(window const& w) {
    return aligned((w.height + reach(w.kernel_h, w.dilation)) *
                   (w.width + reach(w.kernel_w, w.dilation)) * w.filters);
}
constexpr std::ptrdiff_t conv_data_scratch(window const& w) {
    return aligned(weight_count(w)) + lanes * spread_scratch(w);
}
constexpr std::ptrdiff_t conv_weight_scratch(window const& w) {
    return lanes * (padded_scratch(w) + aligned(weight_count(w)));
}

// The image with its padding: itself, or a copy in `room`.
template <class T>
T const* with_padding(window const& w, T const* x, T* room) {
    if (!padded(w)) {
        return x;
    }
    spread(x, w.height, w.width, w.channels, room, padded_height(w), padded_width(w), w.pad_top,
           w.pad_left, 1, 1);
    return room;
}

inline sliding forward_window(window const& w) {
    return {padded_width(w),
            w.channels,
            w.out_height,
            w.out_width,
            w.filters,
            w.kernel_h,
            w.kernel_w,
            w.stride_h,
            w.stride_w,
            w.dilation,
            w.channels / w.groups,
            w.filters / w.groups};
}

constexpr double conv_work(window const& w, std::ptrdiff_t samples) {
    return 2.0 * double(samples) * w.out_height * w.out_width * double(weight_count(w));
}

template <class T>
void conv(step const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    sliding const geometry = forward_window(w);
    T const* const x = c.at(t.arrays[s.first_array]);
    T const* const weight = c.at(t.arrays[s.first_array + 1]);
    T* const y = c.at(t.arrays[s.output]);
    T* const room = s.scratch >= 0 ? c.at(t.arrays[s.scratch]) : nullptr;
    std::ptrdiff_t const in = std::ptrdiff_t{w.height} * w.width * w.channels;
    std::ptrdiff_t const out = std::ptrdiff_t{w.out_height} * w.out_width * w.filters;
    parallel_for(lanes, conv_work(w, c.samples), [&](std::ptrdiff_t lane) {
        for (auto i = lane_begin(c.samples, lane); i < lane_begin(c.samples, lane + 1); ++i) {
            T const* const image = with_padding(w, x + i * in, room + lane * padded_scratch(w));
            for (std::ptrdiff_t g = 0; g < w.groups; ++g) {
                slide(geometry, image + g * geometry.depth_channels,
                      weight + g * (weight_count(w) / w.groups),
                      y + i * out + g * geometry.filters);
            }
        }
    });
}

// The gradient by the image is a convolution of the spread gradient with the turned weight.
template <class T>
void conv_data(step const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    std::ptrdiff_t const reach_h = reach(w.kernel_h, w.dilation);
    std::ptrdiff_t const reach_w = reach(w.kernel_w, w.dilation);
    std::ptrdiff_t const height = w.height + reach_h, width = w.width + reach_w;
    std::ptrdiff_t const channels = w.channels / w.groups, filters = w.filters / w.groups;
    std::ptrdiff_t const places_count = std::ptrdiff_t{w.kernel_h} * w.kernel_w;
    T const* const dy = c.at(t.arrays[s.first_array]);
    T const* const weight = c.at(t.arrays[s.first_array + 1]);
    T* const dx = c.at(t.arrays[s.output]);
    T* const turned =
        c.at(t.arrays[s.scratch]); // (group, kernel turned by half, filters, channels)
    T* const room = turned + aligned(weight_count(w));
    parallel_for(w.groups * places_count, double(weight_count(w)), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const g = i / places_count, place = i % places_count;
        T const* const from = weight + (g * places_count + place) * channels * filters;
        T* const to = turned + (g * places_count + places_count - 1 - place) * channels * filters;
        for (std::ptrdiff_t f = 0; f < filters; ++f) {
            for (std::ptrdiff_t ch = 0; ch < channels; ++ch) {
                to[f * channels + ch] = from[ch * filters + f];
            }
        }
    });
    sliding const geometry{width,      w.filters, w.height, w.width,    w.channels, w.kernel_h,
                           w.kernel_w, 1,         1,        w.dilation, filters,    channels};
    std::ptrdiff_t const in = std::ptrdiff_t{w.height} * w.width * w.channels;
    std::ptrdiff_t const out = std::ptrdiff_t{w.out_height} * w.out_width * w.filters;
    parallel_for(lanes, conv_work(w, c.samples), [&](std::ptrdiff_t lane) {
        T* const image = room + lane * spread_scratch(w);
        for (auto i = lane_begin(c.samples, lane); i < lane_begin(c.samples, lane + 1); ++i) {
            spread(dy + i * out, w.out_height, w.out_width, w.filters, image, height, width,
                   reach_h - w.pad_top, reach_w - w.pad_left, w.stride_h, w.stride_w);
            for (std::ptrdiff_t g = 0; g < w.groups; ++g) {
                slide(geometry, image + g * filters, turned + g * places_count * channels * filters,
                      dx + i * in + g * channels);
            }
        }
    });
}

// Each lane sums over its samples; the sums are added in the order of the lanes.
template <class T>
void conv_weight(step const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    sliding const geometry = forward_window(w);
    std::ptrdiff_t const channels = geometry.depth_channels, filters = geometry.filters;
    std::ptrdiff_t const each = weight_count(w) / w.groups; // one group
    std::ptrdiff_t const rows = each / filters; // (kernel height, kernel width, channel)
    depth const pixels{geometry.out_width,
                       geometry.stride_w * geometry.channels,
                       1,
                       0,
                       geometry.out_height,
                       geometry.stride_h * geometry.width * geometry.channels};
    T const* const x = c.at(t.arrays[s.first_array]);
    T const* const dy = c.at(t.arrays[s.first_array + 1]);
    T* const sums = c.at(t.arrays[s.scratch]);
    std::ptrdiff_t const sum_size = aligned(weight_count(w));
    T* const room = sums + lanes * sum_size;
    std::ptrdiff_t const in = std::ptrdiff_t{w.height} * w.width * w.channels;
    std::ptrdiff_t const out = std::ptrdiff_t{w.out_height} * w.out_width * w.filters;
    auto const place = [&](std::ptrdiff_t row) { // of a weight in the window
        std::ptrdiff_t const tap = row / channels;
        return (tap / w.kernel_w * geometry.width + tap % w.kernel_w) * w.dilation *
                   geometry.channels +
               row % channels;
    };
    parallel_for(lanes, conv_work(w, c.samples), [&](std::ptrdiff_t lane) {
        T* const sum = sums + lane * sum_size;
        std::fill(sum, sum + weight_count(w), T(0));
        for (auto i = lane_begin(c.samples, lane); i < lane_begin(c.samples, lane + 1); ++i) {
            T const* const image = with_padding(w, x + i * in, room + lane * padded_scratch(w));
            for (std::ptrdiff_t g = 0; g < w.groups; ++g) {
                for (std::ptrdiff_t first = 0; first < rows; first += tile_rows) {
                    std::ptrdiff_t const count = std::min<std::ptrdiff_t>(tile_rows, rows - first);
                    T const* a[tile_rows];
                    for (std::ptrdiff_t r = 0; r < tile_rows; ++r) {
                        a[r] = image + g * channels + place(first + std::min(r, count - 1));
                    }
                    tile_row(a, pixels, dy + i * out + g * filters, std::ptrdiff_t{w.filters},
                             sum + g * each + first * filters, filters, static_cast<int>(count),
                             filters, true);
                }
            }
        }
    });
    T* const dw = c.at(t.arrays[s.output]);
    parallel_for(rows, double(lanes * weight_count(w)), [&](std::ptrdiff_t row) {
        std::ptrdiff_t const begin = row * (filters * w.groups);
        for (std::ptrdiff_t j = begin; j < begin + filters * w.groups; ++j) {
            T total = 0;
            for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
                total += sums[lane * sum_size + j];
            }
            dw[j] = total;
        }
    });
}

} // namespace castnet::cpu
