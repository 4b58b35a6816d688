// Any convolution as a product over windows without copying the windows: the rows of A are pointers
// into the (padded) image. Images lie as (height, width, channels), weights as (kernel height,
// kernel width, channels of the group, filters).
#pragma once

#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/panels.hpp>
#include <castnet/device/cpu/sliding.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// Weights of one group as the kernel reads them: (window, channel) x filters, in panels. Narrow
// ones of one group are read as they lie; those of several groups would be pieces of long rows.
template <class F>
constexpr bool packs(window const& w) {
    return w.filters / w.groups > tile_columns<F> || w.groups > 1 || numbers_in<F> > 1;
}
// Columns of a panel, and elements of a group's panels.
template <class F>
constexpr std::ptrdiff_t packed_columns(window const& w) {
    constexpr std::ptrdiff_t vector = simd<F>::width;
    std::ptrdiff_t const filters = panel_count(w.filters / w.groups, vector) * vector;
    return numbers_in<F> > 1 ? tile_columns<F> : std::min<std::ptrdiff_t>(filters, tile_columns<F>);
}
template <class F>
constexpr std::ptrdiff_t packed_group(window const& w) {
    return panel_count(w.filters / w.groups, tile_columns<F>) *
           (window_places(w) / numbers_in<F>)*packed_columns<F>(w);
}
// Whether the threads share the filters rather than the rows of the results: each reads its part of
// what is larger, the weights or the image, and all of the other.
template <class F>
constexpr bool shares_filters(window const& w) {
    return w.filters / w.groups > tile_columns<F> && weight_count(w) > image_count(w);
}

template <class F>
constexpr scratch_size direct_conv_scratch(window const& w) {
    return {0, 0, padded_band<F>(w), packs<F>(w) ? w.groups * packed_group<F>(w) : 0};
}

template <class F>
void direct_conv_prepare(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    auto const* const weight = c.at(t.arrays[s.first_array + 1]);
    std::ptrdiff_t const filters = w.filters / w.groups, rows = window_places(w) / numbers_in<F>;
    F* const packed = factors_at<F>(c, t.arrays[s.prepared]);
    std::ptrdiff_t const panels = panel_count(filters, tile_columns<F>);
    std::ptrdiff_t const width = packed_columns<F>(w);
    parallel_for(w.groups * panels, double(weight_count(w)), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const first = i % panels * tile_columns<F>;
        auto const* const from = weight + i / panels * filters + first;
        F* const to = packed + i * rows * width;
        if constexpr (numbers_in<F> == 1) {
            if (width < tile_columns<F>) {
                for (std::ptrdiff_t k = 0; k < rows; ++k) {
                    std::copy_n(from + k * w.filters, filters, to + k * width);
                    std::fill_n(to + k * width + filters, width - filters, F(0));
                }
                return;
            }
        }
        pack_panel<F>(window_places(w), std::min<std::ptrdiff_t>(tile_columns<F>, filters - first),
                      {from, w.filters, 1}, to);
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
    std::ptrdiff_t const of_group = packs<F>(w) ? packed_group<F>(w) : filters;
    std::ptrdiff_t const columns = packs<F>(w) ? packed_columns<F>(w) : w.filters;
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

} // namespace castnet::cpu::inline CASTNET_TARGET
