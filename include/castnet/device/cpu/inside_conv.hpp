// Dilated convolutions that reach far beyond the image: products over those places of the window
// that lie inside, without padding. Pixels that meet the same ones are multiplied together.
#pragma once

#include <castnet/device/cpu/direct_conv.hpp>
#include <castnet/device/cpu/taps.hpp>
#include <castnet/device/cpu/winograd_tiling.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// How many results of an axis meet its taps inside the image, all taps together; 0 unless one of
// them meets all results there, so that none is left out.
constexpr std::ptrdiff_t taps_inside(tap_axis const& a) {
    bool one_meets_all = false;
    for (int tap = 0; tap < a.taps; ++tap) {
        one_meets_all = one_meets_all || results_inside(a, tap) == a.out;
    }
    return one_meets_all ? pairs_inside(a) : 0;
}

// The only decision which convolutions leave out places: where that saves an eighth of the
// products, and more than Winograd's algorithm does, whose transforms cost a sixth of its products
// here.
template <class F>
constexpr bool stays_inside(window const& w) {
    if ((w.dilation_h == 1 && w.dilation_w == 1) || w.groups > 1 || numbers_in<F> > 1 ||
        !packs<F>(w)) {
        return false;
    }
    tiling const t = forward_tiling(w);
    std::ptrdiff_t const inside = taps_inside(vertical_axis(w)) * taps_inside(horizontal_axis(w));
    std::ptrdiff_t const all = std::ptrdiff_t{w.kernel_h} * w.kernel_w * w.out_height * w.out_width;
    return inside > 0 && 8 * inside <= 7 * all &&
           (!uses_winograd<F>(w) || 6 * inside < 7 * t.tiles() * t.sections());
}

// With weights as direct_conv_prepare packs them.
template <class F>
void inside_conv(kernel_launch const& s, tables const& t, context<F> const& c) {
    window const& w = t.windows[s.window];
    F const* const x = c.at(t.arrays[s.first_array]);
    F const* const weight = c.at(t.arrays[s.prepared]);
    F* const y = c.at(t.arrays[s.output]);
    tile_end<F> const end = tile_end_of(s, t, c);
    std::ptrdiff_t const channels = w.channels, row = w.width * channels,
                         depth_rows = window_places(w);
    constexpr std::ptrdiff_t columns = tile_columns<F>;
    // The results of some rows and columns of a sample, and the filters from `left` to `right`.
    auto const compute = [&](std::ptrdiff_t sample, tap_run const& down, tap_run const& across,
                             std::ptrdiff_t left, std::ptrdiff_t right) {
        depth const d{channels, 1, across.taps, across.by_tap * channels};
        row_block<F> block;
        for (int tap = 0; tap < down.taps; ++tap) {
            panels<F> const b{weight + left * depth_rows +
                                  (std::ptrdiff_t{down.tap + tap} * w.kernel_w + across.tap) *
                                      channels * columns,
                              columns, depth_rows * columns};
            tile_end<F> here = tap == down.taps - 1 ? end.from(left) : tile_end<F>{};
            here.accumulate = tap > 0;
            auto const multiply = [&] { block.multiply(d, b, right - left, here); };
            for (int i = 0; i < down.results; ++i) {
                std::ptrdiff_t const from = down.source + i * down.by_result + tap * down.by_tap;
                std::ptrdiff_t const to =
                    std::ptrdiff_t{down.result + i} * w.out_width + across.result;
                block.push_run(across.results,
                               x + sample * image_count(w) + from * row + across.source * channels,
                               across.by_result * channels,
                               y + sample * result_count(w) + to * w.filters + left, w.filters,
                               multiply);
            }
            multiply();
        }
    };
    auto const compute_rows = [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t left,
                                  std::ptrdiff_t right) {
        for (std::ptrdiff_t i = 0; i < c.samples; ++i) {
            for_each_output_run(vertical_axis(w), int(first), int(last), [&](tap_run const& down) {
                for_each_output_run(horizontal_axis(w), 0, w.out_width, [&](tap_run const& across) {
                    compute(i, down, across, left, right);
                });
            });
        }
    };
    double const work = conv_work(w, c.samples);
    if (shares_filters<F>(w)) {
        share_range(panel_count(w.filters, columns), work,
                    [&](std::ptrdiff_t first, std::ptrdiff_t last) {
                        compute_rows(0, w.out_height, first * columns,
                                     std::min<std::ptrdiff_t>(last * columns, w.filters));
                    });
    } else {
        share_range(w.out_height, work, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
            compute_rows(first, last, 0, w.filters);
        });
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
