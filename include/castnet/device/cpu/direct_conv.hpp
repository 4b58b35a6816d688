// Any convolution and its gradients as products over windows without copying the windows: the rows
// of A are pointers into the (padded) image. Images lie as (height, width, channels), weights as
// (kernel height, kernel width, channels of the group, filters).
#pragma once

#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/panels.hpp>
#include <castnet/device/cpu/sliding.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// Weights of one group as the kernel reads them: (window, channel) x filters.
template <class F>
constexpr bool packs(window const& w) {
    return w.filters / w.groups > tile_columns<F> || numbers_in<F> > 1;
}
// Whether the threads share the filters rather than the rows of the results: each reads its part of
// what is larger, the weights or the image, and all of the other.
template <class F>
constexpr bool shares_filters(window const& w) {
    return w.filters / w.groups > tile_columns<F> && weight_count(w) > image_count(w);
}

template <class F>
constexpr scratch_size direct_conv_scratch(window const& w) {
    return {0, 0, padded_band<F>(w),
            packs<F>(w)
                ? w.groups * packed_size<F>(window_places(w) / numbers_in<F>, w.filters / w.groups)
                : 0};
}

template <class F>
void direct_conv_prepare(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    auto const* const weight = c.at(t.arrays[s.first_array + 1]);
    std::ptrdiff_t const filters = w.filters / w.groups, rows = window_places(w) / numbers_in<F>;
    F* const packed = factors_at<F>(c, t.arrays[s.prepared]);
    std::ptrdiff_t const panels = panel_count(filters, tile_columns<F>);
    parallel_for(w.groups * panels, double(weight_count(w)), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const first = i % panels * tile_columns<F>;
        pack_panel<F>(window_places(w), std::min<std::ptrdiff_t>(tile_columns<F>, filters - first),
                      {weight + i / panels * filters + first, w.filters, 1},
                      packed + i * rows * tile_columns<F>);
    });
}

template <class F>
void direct_conv(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    using T = sum_type<F>;
    window const& w = t.windows[s.window];
    T* const y = c.at(t.arrays[s.output]);
    tile_end<T> const end = tile_end_of(s, t, c);
    sliding const geometry = forward_window<F>(w);
    depth const d = geometry.window_depth();
    std::ptrdiff_t const rows = window_places(w) / numbers_in<F>, filters = geometry.filters;
    F const* const weight =
        factors_at<F>(c, t.arrays[packs<F>(w) ? s.prepared : s.first_array + 1]);
    std::ptrdiff_t const of_group = packs<F>(w) ? packed_size<F>(rows, filters) : filters;
    std::ptrdiff_t const columns = packs<F>(w) ? tile_columns<F> : w.filters;
    // Rows of the results, and of each group the filters from `left` to `right`.
    auto const compute = [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t left,
                             std::ptrdiff_t right, std::ptrdiff_t worker) {
        row_block<F> block;
        auto const multiply = [&](std::ptrdiff_t g) {
            block.multiply(d, {weight + g * of_group + left * rows, columns, rows * columns},
                           right - left, end.from(g * filters + left));
        };
        band_walk<F> walk{
            w, c.samples, c.at(t.arrays[s.first_array]), scratch_of(s, t, c, worker), first, last};
        while (walk.next()) {
            band const& b = walk.at;
            for (std::ptrdiff_t g = 0; g < w.groups; ++g) {
                for (std::ptrdiff_t i = 0; i < b.images; ++i) {
                    T* out = y + (b.image + i) * result_count(w) +
                             std::ptrdiff_t{b.row} * w.out_width * w.filters + g * filters + left;
                    for (int row = 0; row < b.rows; ++row) {
                        F const* from =
                            walk.from + i * walk.next_image + g * geometry.depth_channels +
                            row * geometry.stride_h * geometry.width * geometry.channels;
                        block.push_run(w.out_width, from, geometry.stride_w * geometry.channels,
                                       out, w.filters, [&] { multiply(g); });
                        out += w.out_width * w.filters;
                    }
                }
                if (w.groups > 1 ||
                    copies_bands<F>(
                        w)) { // other weights come, or other pixels in the scratch memory
                    multiply(g);
                }
            }
        }
        multiply(0);
    };
    double const work = conv_work(w, c.samples);
    if (shares_filters<F>(w)) {
        share_range(panel_count(filters, tile_columns<F>), work,
                    [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t worker) {
                        compute(0, w.out_height, first * tile_columns<F>,
                                std::min(last * tile_columns<F>, filters), worker);
                    });
    } else {
        share_range(w.out_height, work,
                    [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t worker) {
                        compute(first, last, 0, filters, worker);
                    });
    }
}

// The weights of each row of the window, turned: (place in the row, filter) x channels, in panels.
// Pairs are made of neighbouring filters.
template <class F>
constexpr std::ptrdiff_t turned_size(window const& w) {
    return packed_size<F>(std::ptrdiff_t{w.kernel_w} * (w.filters / w.groups / numbers_in<F>),
                          w.channels / w.groups);
}
// The most pixels of a band.
constexpr std::ptrdiff_t most_band_pixels(window const& w) {
    return std::max(band_pixels, band_rows(w) * w.out_width);
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
            int const shift = kx * w.dilation - w.pad_left; // of x from out_x * stride_w
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
        return beyond > 0 ? (beyond + w.dilation - 1) / w.dilation : 0;
    };
    auto const end_place = [&](int x) {
        return std::min(w.kernel_w, (x + w.pad_left) / w.dilation + 1);
    };
    for (int x = 0; x < w.width;) {
        int const first = first_place(x), end = end_place(x), begin = x;
        while (x < w.width && first_place(x) == first && end_place(x) == end) {
            ++x;
        }
        if (first < end) {
            f(column_class{first, end - first, begin, x - begin, 1,
                           begin + w.pad_left - first * w.dilation});
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
            depth const d{filters, 1, k.places, -std::ptrdiff_t{w.dilation} * next_pixel};
            panels<F> const weight{turned + (g * w.kernel_h + ky) * turned_size<F>(w) +
                                       k.first_place * filters * tile_columns<F>,
                                   tile_columns<F>, w.kernel_w * filters * tile_columns<F>};
            for (std::ptrdiff_t i = 0; i < b.images; ++i) {
                for (int row = 0; row < b.rows; ++row) {
                    int const y = (b.row + row) * w.stride_h + ky * w.dilation - w.pad_top;
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
                    first_y + (b.rows - 1) * w.stride_h + (w.kernel_h - 1) * w.dilation < top) {
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

// The pieces of the weight gradient's rows that threads share: few, since each takes another pass
// over the samples, and so small that the sums of one stay in an L2 cache.
template <class T>
std::ptrdiff_t weight_pieces(window const& w) {
    constexpr std::ptrdiff_t most = (1 << 20) / std::ptrdiff_t{sizeof(T)};
    std::ptrdiff_t const threads = std::min(thread_count(), chunks);
    return std::min<std::ptrdiff_t>(chunks, threads * (weight_count(w) / threads / most + 1));
}
template <class F>
constexpr std::ptrdiff_t direct_weight_scratch(window const& w) {
    return padded_band<F>(w, pairing::rows) +
           packed_size<F>(most_band_pixels(w), w.filters / w.groups); // dy
}
template <class F>
constexpr scratch_size direct_conv_weight_scratch(window const& w) {
    return sums_by_chunk(w) ? scratch_size{0, weight_count(w), direct_weight_scratch<F>(w)}
                            : chunks * direct_weight_scratch<F>(w);
}

// A weight's place in the window: where it meets the image.
struct window_place {
    std::ptrdiff_t channel, x, y;

    window_place(sliding const& w, std::ptrdiff_t row)
        : channel{row % w.depth_channels}, x{row / w.depth_channels % w.kernel_w},
          y{row / w.depth_channels / w.kernel_w} {}

    std::ptrdiff_t offset(sliding const& w) const {
        return (y * w.width + x) * w.dilation * w.channels + channel;
    }
    void advance(sliding const& w) {
        if (++channel == w.depth_channels) {
            channel = 0;
            if (++x == w.kernel_w) {
                x = 0;
                ++y;
            }
        }
    }
};

// The gradients of a band, packed: row by row where rows have an odd number of pixels, whose last
// one has no pair.
template <class F>
void pack_rows(depth const& pixels, std::ptrdiff_t row, std::ptrdiff_t columns,
               matrix<sum_type<F>> const& from, F* to) {
    std::ptrdiff_t const rows = pixels.inner * pixels.outer;
    if (row % numbers_in<F> == 0) {
        pack_panels<F>(rows * row, columns, from, to);
        return;
    }
    constexpr std::ptrdiff_t width = tile_columns<F>;
    for (std::ptrdiff_t j = 0; j < columns; j += width) {
        for (std::ptrdiff_t i = 0; i < rows; ++i, to += pixels.length * width) {
            pack_panel<F>(row, std::min(width, columns - j),
                          {from.data + i * row * from.row + j, from.row, 1}, to);
        }
    }
}

// Adds to `sum` the gradient of weights in the tiles of rows first to last - 1 of each group.
// Neighbouring pixels of a row make a pair.
template <class F>
void add_direct_weight(window const& w, std::ptrdiff_t samples, sum_type<F> const* x,
                       sum_type<F> const* dy, std::ptrdiff_t first, std::ptrdiff_t last,
                       sum_type<F>* sum, sum_type<F>* scratch) {
    using T = sum_type<F>;
    sliding const geometry = forward_window(w);
    std::ptrdiff_t const channels = geometry.depth_channels, filters = geometry.filters;
    std::ptrdiff_t const rows = window_places(w);
    F* const packed = as_factors<F>(scratch) + padded_band<F>(w, pairing::rows);
    // packed where many rows meet them
    bool const pack = numbers_in<F> > 1 || (w.filters > tile_columns<F> && last - first >= 8);
    row_block<F> block;
    band_walk<F, pairing::rows> walk{w, samples, x, scratch};
    while (walk.next()) {
        band const& b = walk.at;
        depth const pixels{steps_of<F>(geometry.out_width),
                           geometry.stride_w * geometry.channels * numbers_in<F>,
                           b.rows,
                           geometry.stride_h * geometry.width * geometry.channels,
                           b.images,
                           walk.next_image};
        T const* const gradient =
            dy + b.image * result_count(w) + std::ptrdiff_t{b.row} * w.out_width * w.filters;
        for (std::ptrdiff_t g = 0; g < w.groups; ++g) {
            panels<F> right{packed, tile_columns<F>, pixels.steps() * tile_columns<F>};
            if (pack) {
                pack_rows<F>(pixels, geometry.out_width, filters,
                             {gradient + g * filters, w.filters, 1}, packed);
            } else if constexpr (numbers_in<F> == 1) {
                right = {gradient + g * filters, w.filters, tile_columns<F>};
            }
            std::ptrdiff_t const end = std::min(last * tile_rows, rows);
            window_place at{geometry, first * tile_rows};
            for (auto r = first * tile_rows; r < end; ++r, at.advance(geometry)) {
                block.push(walk.from + g * channels + at.offset(geometry),
                           sum + r * w.filters + g * filters);
                if (block.full()) {
                    block.multiply(pixels, right, filters, {.accumulate = true});
                }
            }
            block.multiply(pixels, right, filters, {.accumulate = true});
        }
    }
}

// Of a chunk's samples.
template <class F>
void direct_conv_weight(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    add_direct_weight<F>(w, c.samples, c.at(t.arrays[s.first_array]),
                         c.at(t.arrays[s.first_array + 1]), 0,
                         (window_places(w) + tile_rows - 1) / tile_rows, c.sum_at(t.arrays[s.sums]),
                         c.at(t.arrays[s.chunk_scratch]));
}

// Of all samples: threads share the rows.
template <class F>
void direct_conv_whole_weight(kernel_launch const& s, tables const& t,
                              context<sum_type<F>> const& c) {
    using T = sum_type<F>;
    window const& w = t.windows[s.window];
    T* const dw = c.at(t.arrays[s.output]);
    std::fill_n(dw, weight_count(w), T(0));
    std::ptrdiff_t const tiles = (window_places(w) + tile_rows - 1) / tile_rows;
    std::ptrdiff_t const pieces = weight_pieces<T>(w);
    parallel_for(pieces, conv_work(w, c.samples), [&](std::ptrdiff_t i) {
        add_direct_weight<F>(w, c.samples, c.at(t.arrays[s.first_array]),
                             c.at(t.arrays[s.first_array + 1]), tiles * i / pieces,
                             tiles * (i + 1) / pieces, dw,
                             c.at(t.arrays[s.scratch]) + i * direct_weight_scratch<F>(w));
    });
}

} // namespace castnet::cpu::inline CASTNET_TARGET
