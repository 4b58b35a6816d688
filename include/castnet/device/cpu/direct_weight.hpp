// Gradient of the weights of any convolution, as products over the places where a weight meets the
// image (direct_conv.hpp).
#pragma once

#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/panels.hpp>
#include <castnet/device/cpu/sliding.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

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
        return (y * w.dilation_h * w.width + x * w.dilation_w) * w.channels + channel;
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
