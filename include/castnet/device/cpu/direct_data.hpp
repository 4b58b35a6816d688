// Gradient of any convolution with respect to its image, as products of the result's gradient with
// the weights of each row of the window (direct_conv.hpp).
#pragma once

#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/panels.hpp>
#include <castnet/device/cpu/sliding.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// The weights of each row of the window, turned: (place in the row, filter) x channels, in panels.
// Pairs are made of neighbouring filters.
template <class F>
constexpr std::ptrdiff_t turned_size(window const& w) {
    return packed_size<F>(std::ptrdiff_t{w.kernel_w} * (w.filters / w.groups / numbers_in<F>),
                          w.channels / w.groups);
}
template <class F>
constexpr scratch_size direct_conv_data_scratch(window const& w) {
    return {0, 0, numbers_in<F> > 1 ? aligned(most_band_pixels(w) * w.filters / numbers_in<F>) : 0,
            aligned(w.groups * w.kernel_h * turned_size<F>(w))};
}

template <class F>
void direct_conv_data_prepare(kernel_launch const& s, tables const& t,
                              context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    std::ptrdiff_t const channels = w.channels / w.groups, filters = w.filters / w.groups;
    std::ptrdiff_t const taps = std::ptrdiff_t{w.kernel_h} * w.kernel_w;
    auto const* const weight = c.at(t.arrays[s.first_array + 1]);
    F* const turned = factors_at<F>(c, t.arrays[s.prepared]);
    parallel_for(w.groups * taps, double(weight_count(w)), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const size = filters / numbers_in<F> * tile_columns<F>;
        F* to = turned + i / w.kernel_w * turned_size<F>(w) + i % w.kernel_w * size;
        for (std::ptrdiff_t j = 0; j < channels; j += tile_columns<F>) {
            pack_panel<F>(
                filters, std::min<std::ptrdiff_t>(tile_columns<F>, channels - j),
                {weight + (i % taps * channels + j) * w.filters + i / taps * filters, 1, w.filters},
                to);
            to += w.kernel_w * size;
        }
    });
}

// Pixels of a row of the image that meet the same places of a row of the window.
struct column_class {
    int first_place, places;
    int x, columns, step; // of the image
    int out_x;            // the output pixel that meets x at the first place
};

// Neighbouring places meet the same pixel where the window moves by one. To add their products up
// in registers pays where these are short and most pixels meet all places.
constexpr bool joins_places(window const& w) {
    return w.stride_w == 1 && w.filters / w.groups <= 128 && w.out_width >= 3 * w.kernel_w;
}

// Calls f(class) for all classes; where places are not joined, each is one.
template <class F>
void for_each_column_class(window const& w, F const& f) {
    if (!joins_places(w)) {
        for (int kx = 0; kx < w.kernel_w; ++kx) {
            int const shift = kx * w.dilation_w - w.pad_left; // of x from out_x * stride_w
            int const first = shift < 0 ? (-shift + w.stride_w - 1) / w.stride_w : 0;
            int const end = std::min(w.out_width, (w.width - shift + w.stride_w - 1) / w.stride_w);
            if (first < end) {
                f(column_class{kx, 1, first * w.stride_w + shift, end - first, w.stride_w, first});
            }
        }
        return;
    }
    // a place kx meets x where 0 <= x + pad_left - kx * dilation < out_width
    auto const first_place = [&](int x) {
        int const beyond = x + w.pad_left - w.out_width + 1;
        return beyond > 0 ? (beyond + w.dilation_w - 1) / w.dilation_w : 0;
    };
    auto const end_place = [&](int x) {
        return std::min(w.kernel_w, (x + w.pad_left) / w.dilation_w + 1);
    };
    for (int x = 0; x < w.width;) {
        int const first = first_place(x), end = end_place(x), begin = x;
        while (x < w.width && first_place(x) == first && end_place(x) == end) {
            ++x;
        }
        if (first < end) {
            f(column_class{first, end - first, begin, x - begin, 1,
                           begin + w.pad_left - first * w.dilation_w});
        }
    }
}

// Adds to every pixel of dx under the window, for each row of the window, the product of the
// gradients of the output pixels that meet it there with the weights of these places. Threads share
// the rows of dx, whose sums are made in the same order whoever makes them.
template <class F>
void direct_conv_data(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    using T = sum_type<F>;
    window const& w = t.windows[s.window];
    std::ptrdiff_t const channels = w.channels / w.groups,
                         filters = w.filters / w.groups / numbers_in<F>,
                         next_pixel = w.filters / numbers_in<F>;
    T const* const dy = c.at(t.arrays[s.first_array]);
    T* const dx = c.at(t.arrays[s.output]);
    F const* const turned = factors_at<F>(c, t.arrays[s.prepared]);
    std::ptrdiff_t const row_count = std::ptrdiff_t{w.width} * w.channels;
    auto const compute = [&](std::ptrdiff_t top, std::ptrdiff_t bottom, std::ptrdiff_t worker) {
        row_block<F> block;
        // `first`, `next_image`: the gradients of the band's first pixel, and from image to image
        auto const place = [&](band const& b, F const* first, std::ptrdiff_t next_image,
                               std::ptrdiff_t g, int ky,
                               column_class const& k) __attribute__((noinline)) {
            depth const d{filters, 1, k.places, -std::ptrdiff_t{w.dilation_w} * next_pixel};
            panels<F> const weight{turned + (g * w.kernel_h + ky) * turned_size<F>(w) +
                                       k.first_place * filters * tile_columns<F>,
                                   tile_columns<F>, w.kernel_w * filters * tile_columns<F>};
            for (std::ptrdiff_t i = 0; i < b.images; ++i) {
                for (int row = 0; row < b.rows; ++row) {
                    int const y = (b.row + row) * w.stride_h + ky * w.dilation_h - w.pad_top;
                    if (y < top || y >= bottom) {
                        continue;
                    }
                    F const* from = first + i * next_image + g * filters +
                                    (std::ptrdiff_t{row} * w.out_width + k.out_x) * next_pixel;
                    T* to = dx + (b.image + i) * image_count(w) + g * channels + y * row_count +
                            std::ptrdiff_t{k.x} * w.channels;
                    block.push_run(
                        k.columns, from, next_pixel, to, std::ptrdiff_t{k.step} * w.channels,
                        [&] { block.multiply(d, weight, channels, {.accumulate = true}); });
                }
            }
            block.multiply(d, weight, channels, {.accumulate = true});
        };
        for (std::ptrdiff_t i = 0; i < c.samples; ++i) {
            std::fill_n(dx + i * image_count(w) + top * row_count, (bottom - top) * row_count,
                        T(0));
        }
        for (std::ptrdiff_t i = 0; i < c.samples; i += band_images(w)) {
            std::ptrdiff_t const images = std::min<std::ptrdiff_t>(band_images(w), c.samples - i);
            for (int row = 0; row < w.out_height; row += band_rows(w)) {
                band const b{i, images, row, std::min(band_rows(w), w.out_height - row)};
                int const first_y = row * w.stride_h - w.pad_top;
                if (first_y >= bottom ||
                    first_y + (b.rows - 1) * w.stride_h + (w.kernel_h - 1) * w.dilation_h < top) {
                    continue;
                }
                T const* const numbers =
                    dy + i * result_count(w) + std::ptrdiff_t{row} * w.out_width * w.filters;
                F const* first = nullptr;
                if constexpr (numbers_in<F> == 1) {
                    first = numbers;
                } else { // several images are whole ones
                    F* const rounded = as_factors<F>(scratch_of(s, t, c, worker));
                    round_neighbours(numbers, b.images * b.rows * w.out_width * w.filters, rounded);
                    first = rounded;
                }
                for (std::ptrdiff_t g = 0; g < w.groups; ++g) {
                    for (int ky = 0; ky < w.kernel_h; ++ky) {
                        for_each_column_class(w, [&](column_class const& k) {
                            place(b, first, result_count(w) / numbers_in<F>, g, ky, k);
                        });
                    }
                }
            }
        }
    };
    share_range(w.height, conv_work(w, c.samples), compute);
}

} // namespace castnet::cpu::inline CASTNET_TARGET
