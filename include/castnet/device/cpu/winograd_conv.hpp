// Convolutions by Winograd's algorithm (winograd.hpp), and such gradients with respect to the
// image: tiles are transformed in blocks, multiplied and transformed back while they are in the
// cache.
#pragma once

#include <castnet/cpu/transpose.hpp>
#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/runs.hpp>
#include <castnet/device/cpu/winograd_block.hpp>
#include <castnet/device/cpu/winograd_pixels.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// Transformed weights: for each place in a tile panels of (section, channel) x filters.
template <class F>
constexpr std::ptrdiff_t winograd_weights(tiling const& t) {
    return aligned(t.sections() * packed_size<F>(steps_of<F>(t.channels), t.filters));
}
// Where those of a pair of pieces and its first channel go, from this filter on.
template <class F>
void find_weights(tiling const& t, piece_pair const& pair, std::ptrdiff_t filter,
                  place_offsets& to) {
    std::ptrdiff_t const channels = steps_of<F>(t.channels);
    std::ptrdiff_t const panel = filter / tile_columns<F> * tile_columns<F>;
    for (int p = 0; p < winograd_places; ++p) {
        to[p] = t.sections_before(p) * packed_size<F>(channels, t.filters) +
                (t.sections_at(p) * panel + pair.section(t, p) * tile_columns<F>)*channels +
                filter - panel;
    }
}

// Channels whose weights are transformed panel by panel, so that those of a place lie together.
inline constexpr std::ptrdiff_t weight_channels = 16;

// Weights (height, width, channels, filters), transformed.
template <bool Split, class F>
void winograd_conv_prepare(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    tiling const tiles = forward_tiling(w);
    auto const* const weight = c.at(t.arrays[s.first_array + 1]);
    F* const to = factors_at<F>(c, t.arrays[s.prepared]);
    std::ptrdiff_t const filters = w.filters, tap = w.channels * filters;
    std::ptrdiff_t const channels = steps_of<F>(w.channels);
    std::ptrdiff_t const panels = panel_count(filters, tile_columns<F>);
    std::ptrdiff_t const blocks = panel_count(channels, weight_channels);
    parallel_for(panels * blocks, double(weight_count(w)), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const left = i / blocks * tile_columns<F>,
                             right = std::min(left + tile_columns<F>, filters);
        std::ptrdiff_t const first = i % blocks * weight_channels,
                             last = std::min(first + weight_channels, channels);
        for_each_piece<Split>(tiles, [&]<int Down, int Across>(piece_pair const& p, tap_count<Down>,
                                                               tap_count<Across>) {
            place_offsets offset;
            find_weights<F>(tiles, p, left, offset);
            for (std::ptrdiff_t channel = first; channel < last; ++channel) {
                auto const* const from =
                    weight + p.first_tap(tiles, w) * tap + channel * numbers_in<F> * filters;
                F* const row = to + channel * tile_columns<F>;
                for (std::ptrdiff_t k = left; k < right; k += simd<F>::width) {
                    transform_weight<pairing::rows, Down, Across, F>(
                        from + k, filters, next_row(tiles, w) * tap, next_column(tiles) * tap,
                        row + k - left, offset);
                }
            }
        });
    });
}

// The same for a gradient by the image, whose channels are the filters: blocks of these by the
// image's channels from `first` on are turned.
template <bool Split, class F>
void prepare_data_weights(window const& w, tiling const& t, std::ptrdiff_t first,
                          sum_type<F> const* weight, F* to) {
    constexpr std::ptrdiff_t width = simd<F>::width;
    std::ptrdiff_t const tap = std::ptrdiff_t{w.channels} * w.filters;
    std::ptrdiff_t const columns = std::min<std::ptrdiff_t>(width, w.channels - first);
    std::ptrdiff_t const steps = steps_of<F>(w.filters);
    for_each_piece<Split>(
        t, [&]<int Down, int Across>(piece_pair const& p, tap_count<Down>, tap_count<Across>) {
            place_offsets in_block, offset;
            for (int i = 0; i < winograd_places; ++i) {
                in_block[i] = i * width * width;
            }
            find_weights<F>(t, p, first, offset);
            for (std::ptrdiff_t k = 0; k < steps; k += width) {
                F block[winograd_places][size_t(width)][size_t(width)]; // channels x filters
                auto const* const from =
                    weight + p.first_tap(t, w) * tap + first * w.filters + k * numbers_in<F>;
                for (std::ptrdiff_t j = 0; j < columns; ++j) {
                    transform_weight<pairing::neighbours, Down, Across, F>(
                        from + j * w.filters, simd<sum_type<F>>::width, next_row(t, w) * tap,
                        next_column(t) * tap, block[0][j], in_block);
                }
                for (int i = 0; i < winograd_places; ++i) {
                    if (has_place<Down, Across>(i)) {
                        transpose(columns, std::min(width, steps - k), block[i][0], width,
                                  to + offset[i] + k * tile_columns<F>, tile_columns<F>);
                    }
                }
            }
        });
}
template <bool Split, class F>
void winograd_conv_data_prepare(kernel_launch const& s, tables const& t,
                                context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    auto const* const weight = c.at(t.arrays[s.first_array + 1]);
    F* to = factors_at<F>(c, t.arrays[s.prepared]);
    for_each_data_tiling(w, [&](tiling const& tiles) {
        parallel_for(panel_count(w.channels, simd<F>::width), double(weight_count(w)),
                     [&](std::ptrdiff_t i) {
                         prepare_data_weights<Split, F>(w, tiles, i * simd<F>::width, weight, to);
                     });
        to += winograd_weights<F>(tiles);
    });
}

// Scratch memory of a tiling's blocks: transformed pixels, their products, zeros for the outside.
template <class F>
constexpr std::ptrdiff_t pixels_size(tiling const& t, std::ptrdiff_t most) {
    return tile_block<F>{most, whole_vectors<F>(steps_of<F>(t.channels))}.size(t.sections());
}
template <class F>
constexpr std::ptrdiff_t products_size(tiling const& t, std::ptrdiff_t most) {
    return tile_block<F>{most, whole_vectors<F>(t.filters)}.size(winograd_places);
}
template <class F>
constexpr scratch_size winograd_scratch(tiling const& t, bool shared) {
    std::ptrdiff_t const most = block_tiles<F>(t, shared);
    std::ptrdiff_t const scratch = pixels_size<F>(t, most) + products_size<F>(t, most) +
                                   aligned(whole_vectors<sum_type<F>>(t.channels));
    return shared ? scratch_size{scratch, 0, 0, winograd_weights<F>(t)}
                  : scratch_size{0, 0, scratch, winograd_weights<F>(t)};
}
template <class F>
constexpr scratch_size winograd_scratch(window const& w) {
    tiling const t = forward_tiling(w);
    return winograd_scratch<F>(t, shares_tiles<F>(t));
}
template <class F>
constexpr scratch_size winograd_data_scratch(window const& w) {
    scratch_size all{};
    bool const shared = shares_tiles<F>(data_tiling(w, 0, 0));
    for_each_data_tiling(w, [&](tiling const& t) {
        scratch_size const one = winograd_scratch<F>(t, shared);
        all = {std::max(all.shared, one.shared), 0, std::max(all.chunk, one.chunk),
               all.prepared + one.prepared};
    });
    return all;
}

// The products of a block at one place in a tile: (tiles x channels) times panels of (channels x
// filters), whole vectors of these. Few columns are multiplied by more rows at once, where that
// adds up in the same order.
template <class F>
void multiply_place(depth const& d, std::ptrdiff_t tiles, F const* pixels, F const* weight,
                    std::ptrdiff_t filters, sum_type<F>* products) {
    constexpr std::ptrdiff_t width = simd<F>::width, most_steps = row_block<F>::most_steps;
    std::ptrdiff_t const steps = d.steps();
    if (filters <= run_vectors * width && run_rows > tile_rows && tiles >= run_rows &&
        steps <= most_steps && !uses_amx<F>()) {
        std::ptrdiff_t offset[size_t(most_steps)];
        depth_walk{d}.next(steps, offset);
        multiply_runs(pixels, {1, 0, 1, 0, tiles, width}, {steps, offset, weight, tile_columns<F>},
                      {}, filters, products);
        return;
    }
    panels<F> const right{weight, tile_columns<F>, steps * tile_columns<F>};
    row_block<F> block;
    auto const multiply = [&] { block.multiply(d, right, filters); };
    block.push_run(tiles, pixels, width, products, filters, multiply);
    multiply();
}

// The results of these tiles of x convolved with the weights that were prepared.
template <bool Split, class F>
void winograd_convolve(tiling const& t, bool shared, std::ptrdiff_t first_tile,
                       std::ptrdiff_t count, sum_type<F> const* x, F const* weight,
                       tile_end<sum_type<F>> const& end, sum_type<F>* y, sum_type<F>* scratch) {
    using T = sum_type<F>;
    constexpr std::ptrdiff_t width = simd<F>::width;
    std::ptrdiff_t const most = block_tiles<F>(t, shared);
    std::ptrdiff_t const channels = steps_of<F>(t.channels), filters = whole_vectors<F>(t.filters);
    F* const pixels = as_factors<F>(scratch);
    T* const products = scratch + pixels_size<F>(t, most);
    T* const zeros = products + products_size<F>(t, most);
    std::fill_n(zeros, whole_vectors<T>(t.channels), T(0));
    for_each_block(count, most, [&](std::ptrdiff_t begin, std::ptrdiff_t tiles) {
        std::ptrdiff_t const first = first_tile + begin;
        tile_block<F> const from{tiles, whole_vectors<F>(channels)}, to{tiles, filters};
        for_each_piece<Split>(t, [&]<int Down, int Across>(piece_pair const& p, tap_count<Down>,
                                                           tap_count<Across>) {
            place_offsets offset;
            find_sections(t, from, p, offset);
            share_tiles(t, first, tiles, [&](std::ptrdiff_t i, tile_run const& run) {
                transform_image<Down, Across, F>(t, p.down, p.across, x, run, zeros,
                                                 pixels + i * width, offset, from.next_vector());
            });
        });
        double const work = 2.0 * t.sections() * double(tiles) * t.channels * t.filters;
        parallel_for(winograd_places, work, [&](std::ptrdiff_t i) {
            int const p = static_cast<int>(i), sections = t.sections_at(p);
            std::ptrdiff_t const before = t.sections_before(p);
            if (sections > 0) {
                depth const d{width,
                              1,
                              from.channels / width,
                              from.next_vector(),
                              sections,
                              from.next_section(),
                              from.channels - channels};
                multiply_place(d, tiles, pixels + from.place(p, before),
                               weight + before * packed_size<F>(channels, t.filters), filters,
                               products + to.place(p, p));
            }
        });
        with_taps<Split>(t.down.most_taps(), t.across.most_taps(),
                         [&]<int Down, int Across>(tap_count<Down>, tap_count<Across>) {
                             share_tiles(
                                 t, first, tiles, [&](std::ptrdiff_t i, tile_run const& run) {
                                     transform_result<Down, Across>(t, products + i * filters,
                                                                    to.place(1, 1), end, run, y);
                                 });
                         });
    });
}

// As a launch of a plan: its first operand and the weights that were prepared. Where threads share
// the tiles of a block, the launch runs alone; elsewhere each takes blocks of its own.
template <bool Split, class F>
void winograd_launch(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c,
                     tiling const& tiles, bool shared, F const* weight,
                     tile_end<sum_type<F>> const& end) {
    auto const* const x = c.at(t.arrays[s.first_array]);
    auto* const y = c.at(t.arrays[s.output]);
    std::ptrdiff_t const count = c.samples * tiles.tiles();
    if (shared) {
        winograd_convolve<Split, F>(tiles, true, 0, count, x, weight, end, y,
                                    c.at(t.arrays[s.scratch]));
        return;
    }
    double const work = 2.0 * tiles.sections() * double(count) * tiles.channels * tiles.filters;
    share_range((count + tile_rows - 1) / tile_rows, work,
                [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t worker) {
                    winograd_convolve<Split, F>(tiles, false, first * tile_rows,
                                                std::min(last * tile_rows, count) -
                                                    first * tile_rows,
                                                x, weight, end, y, scratch_of(s, t, c, worker));
                });
}
template <bool Split, class F>
void winograd_conv(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    tiling const tiles = forward_tiling(t.windows[s.window]);
    winograd_launch<Split, F>(s, t, c, tiles, shares_tiles<F>(tiles),
                              factors_at<F>(c, t.arrays[s.prepared]), tile_end_of(s, t, c));
}
template <bool Split, class F>
void winograd_conv_data(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    bool const shared = shares_tiles<F>(data_tiling(w, 0, 0));
    F const* weight = factors_at<F>(c, t.arrays[s.prepared]);
    for_each_data_tiling(w, [&](tiling const& tiles) {
        winograd_launch<Split, F>(s, t, c, tiles, shared, weight, {});
        weight += winograd_weights<F>(tiles);
    });
}

} // namespace castnet::cpu::inline CASTNET_TARGET
