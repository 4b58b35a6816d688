// Convolution and its gradients as products over windows, without copying the windows: the rows of
// A are pointers into the (padded) image. Images lie as (height, width, channels), weights as
// (group, kernel height, kernel width, channels of the group, filters of the group).
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/cpu/tile.hpp>
#include <castnet/device/cpu/transpose.hpp>

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
};

// One image: out (pixels x filters) = windows of x times weight.
template <class T>
void slide(sliding const& w, T const* x, T const* weight, T* out) {
    depth const d = w.window_depth();
    tile_pointers<T> p;
    for (std::ptrdiff_t row = 0; row < w.out_height; ++row) {
        T const* from = x + row * w.stride_h * w.width * w.channels;
        for (std::ptrdiff_t column = 0; column < w.out_width; ++column) {
            p.push(from, out);
            from += w.stride_w * w.channels;
            out += w.out_channels;
            if (p.full()) {
                tile_row(p, d, weight, w.filters, w.filters);
                p.rows = 0;
            }
        }
    }
    if (p.rows > 0) {
        tile_row(p, d, weight, w.filters, w.filters);
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
constexpr std::ptrdiff_t weight_count(window const& w) {
    return std::ptrdiff_t{w.filters} * (w.channels / w.groups) * w.kernel_h * w.kernel_w;
}

// How many images the weight gradient sums over in registers before it adds to memory: enough of
// the small ones, as long as their gradients fit the L1 cache.
constexpr std::ptrdiff_t images_at_once(window const& w) {
    std::ptrdiff_t const size = std::ptrdiff_t{w.out_height} * w.out_width * w.filters;
    return std::clamp<std::ptrdiff_t>(12288 / size, 1, 16);
}

// Scratch memory: a padded image per lane; for the data gradient the turned weight; for the weight
// gradient a sum and some padded images per lane.
constexpr std::ptrdiff_t padded_size(window const& w) {
    return padded_height(w) * padded_width(w) * w.channels;
}
constexpr std::ptrdiff_t padded_scratch(window const& w, std::ptrdiff_t images = 1) {
    return padded(w) ? aligned(images * padded_size(w)) : 0;
}
constexpr std::ptrdiff_t conv_scratch(window const& w) {
    return lanes * padded_scratch(w);
}
constexpr std::ptrdiff_t conv_data_scratch(window const& w) {
    return aligned(weight_count(w));
}
constexpr std::ptrdiff_t conv_weight_scratch(window const& w) {
    return lanes * (padded_scratch(w, images_at_once(w)) + aligned(weight_count(w)));
}

// The images with their padding: themselves, or copies in `room`.
template <class T>
T const* with_padding(window const& w, T const* x, T* room, std::ptrdiff_t images = 1) {
    if (!padded(w)) {
        return x;
    }
    std::ptrdiff_t const row = std::ptrdiff_t{w.width} * w.channels;
    std::fill_n(room, images * padded_size(w), T(0));
    for (std::ptrdiff_t i = 0; i < images; ++i) {
        T* to = room + i * padded_size(w) + (w.pad_top * padded_width(w) + w.pad_left) * w.channels;
        for (int y = 0; y < w.height; ++y) {
            std::copy_n(x, row, to);
            x += row;
            to += padded_width(w) * w.channels;
        }
    }
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

// One image: adds to every pixel of dx under the window, for each place in the window, the product
// of the output pixel's gradient with the weight of that place; by bands of rows, which stay in the
// L1 cache.
template <class T>
void scatter(window const& w, T const* dy, T const* turned, T* dx) {
    std::ptrdiff_t const channels = w.channels / w.groups;
    depth const d{w.filters / w.groups};
    int const band = 1 + 128 / w.out_width;
    for (int top = 0; top < w.out_height; top += band) {
        int const bottom = std::min(top + band, w.out_height);
        T const* weight = turned;
        for (int ky = 0; ky < w.kernel_h; ++ky) {
            for (int kx = 0; kx < w.kernel_w; ++kx, weight += d.length * channels) {
                tile_pointers<T> p;
                for (int oy = top; oy < bottom; ++oy) {
                    int const y = oy * w.stride_h + ky * w.dilation - w.pad_top;
                    for (int ox = 0; ox < w.out_width && y >= 0 && y < w.height; ++ox) {
                        int const x = ox * w.stride_w + kx * w.dilation - w.pad_left;
                        if (x >= 0 && x < w.width) {
                            p.push(dy + (std::ptrdiff_t{oy} * w.out_width + ox) * w.filters,
                                   dx + (std::ptrdiff_t{y} * w.width + x) * w.channels);
                            if (p.full()) {
                                tile_row(p, d, weight, channels, channels, true);
                                p.rows = 0;
                            }
                        }
                    }
                }
                if (p.rows > 0) {
                    tile_row(p, d, weight, channels, channels, true);
                }
            }
        }
    }
}

template <class T>
void conv_data(step const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    std::ptrdiff_t const channels = w.channels / w.groups, filters = w.filters / w.groups;
    std::ptrdiff_t const places = std::ptrdiff_t{w.kernel_h} * w.kernel_w;
    T const* const dy = c.at(t.arrays[s.first_array]);
    T const* const weight = c.at(t.arrays[s.first_array + 1]);
    T* const dx = c.at(t.arrays[s.output]);
    T* const turned = c.at(t.arrays[s.scratch]); // (group, kernel height, width, filters, channels)
    parallel_for(w.groups * places, double(weight_count(w)), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const begin = i * channels * filters;
        transpose(channels, filters, weight + begin, filters, turned + begin, channels);
    });
    std::ptrdiff_t const in = std::ptrdiff_t{w.height} * w.width * w.channels;
    std::ptrdiff_t const out = std::ptrdiff_t{w.out_height} * w.out_width * w.filters;
    parallel_for(lanes, conv_work(w, c.samples), [&](std::ptrdiff_t lane) {
        for (auto i = lane_begin(c.samples, lane); i < lane_begin(c.samples, lane + 1); ++i) {
            std::fill_n(dx + i * in, in, T(0));
            for (std::ptrdiff_t g = 0; g < w.groups; ++g) {
                scatter(w, dy + i * out + g * filters, turned + g * places * channels * filters,
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
    std::ptrdiff_t const at_once = images_at_once(w);
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
        std::ptrdiff_t const end = lane_begin(c.samples, lane + 1);
        for (auto i = lane_begin(c.samples, lane); i < end; i += at_once) {
            std::ptrdiff_t const images = std::min(at_once, end - i);
            T const* const image =
                with_padding(w, x + i * in, room + lane * padded_scratch(w, at_once), images);
            depth const pixels{geometry.out_width,
                               geometry.stride_w * geometry.channels,
                               geometry.out_height,
                               geometry.stride_h * geometry.width * geometry.channels,
                               images,
                               padded_size(w)};
            for (std::ptrdiff_t g = 0; g < w.groups; ++g) {
                for (std::ptrdiff_t first = 0; first < rows; first += tile_rows) {
                    tile_pointers<T> p;
                    for (auto r = first; r < std::min(first + tile_rows, rows); ++r) {
                        p.push(image + g * channels + place(r), sum + g * each + r * filters);
                    }
                    tile_row(p, pixels, dy + i * out + g * filters, std::ptrdiff_t{w.filters},
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
