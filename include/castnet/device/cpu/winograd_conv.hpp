// Convolutions by Winograd's algorithm (winograd.hpp): tiles are transformed in blocks, multiplied
// and transformed back while they are in the cache.
#pragma once

#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/panels.hpp>
#include <castnet/device/cpu/runs.hpp>
#include <castnet/device/cpu/tuning.hpp>
#include <castnet/device/cpu/winograd.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// A block of transformed tiles as rows of A: for every place in a tile, vectors of channels, of
// each those of all tiles. One vector between two places keeps them apart in the cache. Channels,
// or tiles where two of them make a pair, are counted in factors.
template <class F>
struct tile_block {
    std::ptrdiff_t tiles, channels;

    constexpr std::ptrdiff_t next_place() const { return tiles * channels + simd<F>::width; }
    constexpr std::ptrdiff_t next_vector() const { return tiles * simd<F>::width; }
    constexpr std::ptrdiff_t size() const { return aligned(winograd_places * next_place()); }
};
// The same as B, with panels of filters.
template <class F>
struct tile_panels {
    std::ptrdiff_t tiles, filters;

    constexpr std::ptrdiff_t next_place() const {
        return packed_size<F>(tiles, filters) + simd<F>::width;
    }
    constexpr std::ptrdiff_t next_panel() const { return tiles * tile_columns<F>; }
    constexpr std::ptrdiff_t size() const { return aligned(winograd_places * next_place()); }
};

// Transformed weights that do not fit an L2 cache are multiplied with as many tiles as possible at
// once: all threads share these tiles.
template <class F>
constexpr bool shares_tiles(tiling const& t) {
    return winograd_places * std::ptrdiff_t{t.channels} * t.filters >
           winograd_shared_weights / std::ptrdiff_t{sizeof(F)} * numbers_in<F>;
}
// The most tiles that are transformed at once. A chunk's tiles and their products should fit an L2
// cache, shared ones an L3 cache.
template <class F>
constexpr std::ptrdiff_t block_tiles(tiling const& t, bool shared) {
    std::ptrdiff_t const cache =
        (shared ? winograd_shared_cache : winograd_chunk_cache) / std::ptrdiff_t{sizeof(F)};
    std::ptrdiff_t const fit =
        cache / (std::ptrdiff_t{winograd_places} * (steps_of<F>(t.channels) + t.filters));
    std::ptrdiff_t const tiles = shared
                                     ? std::max(fit, winograd_most_tiles)
                                     : std::clamp(fit, winograd_least_tiles, winograd_most_tiles);
    return tiles / tile_rows * tile_rows;
}

// Calls f(first, tiles) for blocks of about the same size, in which tiles of a product are full.
template <class F>
void for_each_block(std::ptrdiff_t tiles, std::ptrdiff_t most, F const& f) {
    std::ptrdiff_t const all = std::max<std::ptrdiff_t>(tiles, 1); // there may be no samples
    std::ptrdiff_t const blocks = (all + most - 1) / most;
    std::ptrdiff_t const size = (all + blocks * tile_rows - 1) / (blocks * tile_rows) * tile_rows;
    for (std::ptrdiff_t first = 0; first < tiles; first += size) {
        f(first, std::min(size, tiles - first));
    }
}
// Calls f(i, places) for the tiles from `first` on, or for pairs of them, shared by the threads.
template <int Tiles = 1, class F>
void share_tiles(tiling const& t, std::ptrdiff_t first, std::ptrdiff_t tiles, F const& f) {
    double const work = double(tiles) * winograd_places * (t.channels + t.filters);
    std::ptrdiff_t const count = (tiles + Tiles - 1) / Tiles;
    parallel_for(chunks, work, [&](std::ptrdiff_t piece) {
        for (auto i = count * piece / chunks; i < count * (piece + 1) / chunks; ++i) {
            tile_place places[size_t(Tiles)];
            for (int k = 0; k < Tiles; ++k) {
                std::ptrdiff_t const tile = i * Tiles + k;
                places[k] = tile < tiles ? place_of(t, first + tile) : no_tile;
            }
            f(i, places);
        }
    });
}

// Weights (3, 3, channels, filters) as panels of (channels x filters) for each place in a tile.
template <class F>
void winograd_conv_prepare(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    auto const* const weight = c.at(t.arrays[s.first_array + 1]);
    F* const to = factors_at<F>(c, t.arrays[s.prepared]);
    std::ptrdiff_t const channels = steps_of<F>(w.channels), filters = w.filters;
    std::ptrdiff_t const next_place = packed_size<F>(channels, filters);
    parallel_for(channels, double(weight_count(w)), [&](std::ptrdiff_t i) {
        for (std::ptrdiff_t k = 0; k < filters; k += simd<F>::width) {
            std::ptrdiff_t const left = k / tile_columns<F> * tile_columns<F>;
            transform_weight<pairing::rows, F>(
                weight + i * numbers_in<F> * filters + k, filters, w.channels * filters,
                to + left * channels + i * tile_columns<F> + k - left, next_place);
        }
    });
}
// Flipped, as panels of (filters x channels), for the gradient by the image.
template <class F>
void winograd_conv_data_prepare(kernel_launch const& s, tables const& t,
                                context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    auto const* const weight = c.at(t.arrays[s.first_array + 1]);
    F* const to = factors_at<F>(c, t.arrays[s.prepared]);
    constexpr std::ptrdiff_t width = simd<F>::width;
    std::ptrdiff_t const channels = w.channels, tap = channels * w.filters;
    std::ptrdiff_t const filters = steps_of<F>(w.filters);
    std::ptrdiff_t const next_place = packed_size<F>(filters, channels);
    parallel_for(channels / width, double(weight_count(w)), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const first = i * width, left = first / tile_columns<F> * tile_columns<F>;
        for (std::ptrdiff_t k = 0; k < filters; k += width) {
            F block[winograd_places][size_t(width)][size_t(width)]; // channels x filters
            for (std::ptrdiff_t j = 0; j < width; ++j) {
                transform_weight<pairing::neighbours, F>(
                    weight + 8 * tap + (first + j) * w.filters + k * numbers_in<F>, width, -tap,
                    block[0][j], width * width);
            }
            for (int p = 0; p < winograd_places; ++p) {
                transpose(width, width, block[p][0], width,
                          to + p * next_place + left * filters + k * tile_columns<F> + first - left,
                          tile_columns<F>);
            }
        }
    });
}

template <class F>
constexpr std::ptrdiff_t winograd_weights(tiling const& t) {
    return aligned(winograd_places * packed_size<F>(steps_of<F>(t.channels), t.filters));
}
template <class F>
constexpr scratch_size winograd_scratch(tiling const& t) {
    std::ptrdiff_t const most = block_tiles<F>(t, shares_tiles<F>(t));
    std::ptrdiff_t const weights = winograd_weights<F>(t);
    std::ptrdiff_t const scratch = tile_block<F>{most, steps_of<F>(t.channels)}.size() +
                                   tile_block<F>{most, t.filters}.size() + aligned(t.channels);
    return shares_tiles<F>(t) ? scratch_size{scratch, 0, 0, weights}
                              : scratch_size{0, 0, scratch, weights};
}

// The products of a block at one place in a tile: (tiles x channels) times panels of (channels x
// filters). Few columns are multiplied by more rows at once, where that adds up in the same order.
template <class F>
void multiply_place(tile_block<F> const& from, tile_block<F> const& to, F const* pixels,
                    F const* weight, sum_type<F>* products) {
    constexpr std::ptrdiff_t width = simd<F>::width, most_steps = row_block<F>::most_steps;
    std::ptrdiff_t const filters = to.channels;
    depth const d{width, 1, from.channels / width, from.next_vector()};
    if (filters <= run_vectors * width && run_rows > tile_rows && from.tiles >= run_rows &&
        from.channels <= most_steps) {
        std::ptrdiff_t offset[size_t(most_steps)];
        depth_walk{d}.next(from.channels, offset);
        multiply_runs(pixels, {1, 0, 1, 0, from.tiles, width},
                      {from.channels, offset, weight, tile_columns<F>}, {}, filters, products);
        return;
    }
    panels<F> const right{weight, tile_columns<F>, from.channels * tile_columns<F>};
    row_block<F> block;
    auto const multiply = [&] { block.multiply(d, right, filters); };
    block.push_run(from.tiles, pixels, width, products, filters, multiply);
    multiply();
}

// The results of these tiles of x convolved with the weights that were prepared.
template <class F>
void winograd_convolve(tiling const& t, std::ptrdiff_t first_tile, std::ptrdiff_t count,
                       sum_type<F> const* x, F const* weight, tile_end<sum_type<F>> const& end,
                       sum_type<F>* y, sum_type<F>* scratch) {
    using T = sum_type<F>;
    std::ptrdiff_t const most = block_tiles<F>(t, shares_tiles<F>(t));
    std::ptrdiff_t const channels = steps_of<F>(t.channels);
    F* const pixels = as_factors<F>(scratch);
    T* const products = scratch + tile_block<F>{most, channels}.size();
    T* const zeros = products + tile_block<F>{most, t.filters}.size();
    std::fill_n(zeros, t.channels, T(0));
    for_each_block(count, most, [&](std::ptrdiff_t begin, std::ptrdiff_t tiles) {
        std::ptrdiff_t const first = first_tile + begin;
        tile_block<F> const from{tiles, channels}, to{tiles, t.filters};
        share_tiles(t, first, tiles, [&](std::ptrdiff_t i, tile_place const* at) {
            transform_image<F>(t, x, *at, zeros, pixels + i * simd<F>::width, from.next_place(),
                               from.next_vector());
        });
        double const work = 2.0 * winograd_places * double(tiles) * t.channels * t.filters;
        parallel_for(winograd_places, work, [&](std::ptrdiff_t p) {
            multiply_place(from, to, pixels + p * from.next_place(),
                           weight + p * packed_size<F>(channels, t.filters),
                           products + p * to.next_place());
        });
        share_tiles(t, first, tiles, [&](std::ptrdiff_t i, tile_place const* at) {
            transform_result(t, products + i * t.filters, to.next_place(), end, *at, y);
        });
    });
}

// As a launch of a plan: its first operand and the weights that were prepared. Where threads share
// the tiles of a block, the launch runs alone; elsewhere each takes blocks of its own.
template <class F>
void winograd_launch(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c,
                     tiling const& tiles, tile_end<sum_type<F>> const& end) {
    auto const* const x = c.at(t.arrays[s.first_array]);
    F const* const weight = factors_at<F>(c, t.arrays[s.prepared]);
    auto* const y = c.at(t.arrays[s.output]);
    std::ptrdiff_t const count = c.samples * tiles.tiles();
    if (shares_tiles<F>(tiles)) {
        winograd_convolve<F>(tiles, 0, count, x, weight, end, y, c.at(t.arrays[s.scratch]));
        return;
    }
    double const work = 2.0 * winograd_places * double(count) * tiles.channels * tiles.filters;
    share_range((count + tile_rows - 1) / tile_rows, work,
                [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t worker) {
                    winograd_convolve<F>(tiles, first * tile_rows,
                                         std::min(last * tile_rows, count) - first * tile_rows, x,
                                         weight, end, y, scratch_of(s, t, c, worker));
                });
}
template <class F>
void winograd_conv(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    winograd_launch<F>(s, t, c, forward_tiling(t.windows[s.window]), tile_end_of(s, t, c));
}
template <class F>
void winograd_conv_data(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    winograd_launch<F>(s, t, c, data_tiling(t.windows[s.window]), {});
}

// The sums of the gradient by the weights: for each place in a tile, channels x filters.
constexpr std::ptrdiff_t winograd_sums(window const& w) {
    return std::ptrdiff_t{winograd_places} * w.channels * w.filters;
}
template <class F>
constexpr std::ptrdiff_t winograd_weight_scratch(window const& w, bool shared) {
    std::ptrdiff_t const most = steps_of<F>(block_tiles<F>(forward_tiling(w), shared));
    return tile_block<F>{most, w.channels}.size() + tile_panels<F>{most, w.filters}.size() +
           aligned(std::max(w.channels, w.filters));
}

template <class F>
constexpr scratch_size winograd_weight_scratch(window const& w) {
    return sums_by_chunk(w) ? scratch_size{winograd_sums(w), winograd_sums(w),
                                           winograd_weight_scratch<F>(w, false)}
                            : aligned(winograd_sums(w)) + winograd_weight_scratch<F>(w, true);
}

// Adds the gradient of these samples to the sums.
template <class F>
void add_winograd_weight(window const& w, std::ptrdiff_t samples, sum_type<F> const* x,
                         sum_type<F> const* dy, bool shared, sum_type<F>* sums,
                         sum_type<F>* scratch) {
    using T = sum_type<F>;
    tiling const t = forward_tiling(w);
    std::ptrdiff_t const most = block_tiles<F>(t, shared), most_steps = steps_of<F>(most);
    F* const pixels = as_factors<F>(scratch);
    F* const gradients = pixels + tile_block<F>{most_steps, w.channels}.size();
    T* const zeros = scratch + tile_block<F>{most_steps, w.channels}.size() +
                     tile_panels<F>{most_steps, w.filters}.size();
    std::fill_n(zeros, std::max(w.channels, w.filters), T(0));
    for_each_block(samples * t.tiles(), most, [&](std::ptrdiff_t first, std::ptrdiff_t tiles) {
        std::ptrdiff_t const steps = steps_of<F>(tiles);
        tile_block<F> const left{steps, w.channels};
        tile_panels<F> const right{steps, w.filters};
        constexpr int together = numbers_in<F>;
        share_tiles<together>(
            t, first, tiles, [&](std::ptrdiff_t i, tile_place const(&places)[size_t(together)]) {
                transform_images<F>(t, x, places, zeros, pixels + i * simd<F>::width,
                                    left.next_place(), left.next_vector());
                transform_gradient<F>(t, dy, places, zeros, gradients + i * tile_columns<F>,
                                      right.next_place(), right.next_panel());
            });
        depth const d{steps, simd<F>::width};
        double const work = 2.0 * double(tiles) * double(winograd_sums(w));
        parallel_for(winograd_places, work, [&](std::ptrdiff_t p) {
            panels<F> const b{gradients + p * right.next_place(), tile_columns<F>,
                              right.next_panel()};
            row_block<F> block;
            auto const multiply = [&] { block.multiply(d, b, w.filters, {.accumulate = true}); };
            for (std::ptrdiff_t c = 0; c < w.channels; c += simd<F>::width) {
                block.push_run(simd<F>::width, pixels + p * left.next_place() + c * left.tiles, 1,
                               sums + (p * w.channels + c) * w.filters, w.filters, multiply);
            }
            multiply();
        });
    });
}

// The gradient by the weights (3, 3, channels, filters) from its sums.
template <class T>
void finish_winograd_weight(window const& w, T const* sums, T* dw) {
    std::ptrdiff_t const next = std::ptrdiff_t{w.channels} * w.filters;
    parallel_for(w.channels, double(winograd_sums(w)), [&](std::ptrdiff_t c) {
        for (std::ptrdiff_t k = 0; k < w.filters; k += simd<T>::width) {
            std::ptrdiff_t const at = c * w.filters + k;
            transform_weight_gradient<T>(sums + at, next, dw + at, next);
        }
    });
}

// The gradient by the weights of a chunk's samples.
template <class T>
void winograd_conv_weight_begin(kernel_launch const& s, tables const& t, context<T> const& c) {
    std::fill_n(c.sum_at(t.arrays[s.sums]), winograd_sums(t.windows[s.window]), T(0));
}
template <class F>
void winograd_conv_weight(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    add_winograd_weight<F>(t.windows[s.window], c.samples, c.at(t.arrays[s.first_array]),
                           c.at(t.arrays[s.first_array + 1]), false, c.sum_at(t.arrays[s.sums]),
                           c.at(t.arrays[s.chunk_scratch]));
}
template <class T>
void winograd_conv_weight_finish(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T* const sums = c.at(t.arrays[s.scratch]);
    add_chunks(t.arrays[s.sums], c, winograd_sums(w), T(1), sums);
    finish_winograd_weight(w, sums, c.at(t.arrays[s.output]));
}

// The gradient by the weights of all samples; threads share the tiles.
template <class F>
void winograd_conv_whole_weight(kernel_launch const& s, tables const& t,
                                context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    auto* const sums = c.at(t.arrays[s.scratch]);
    std::fill_n(sums, winograd_sums(w), sum_type<F>(0));
    add_winograd_weight<F>(w, c.samples, c.at(t.arrays[s.first_array]),
                           c.at(t.arrays[s.first_array + 1]), true, sums,
                           sums + aligned(winograd_sums(w)));
    finish_winograd_weight(w, sums, c.at(t.arrays[s.output]));
}

} // namespace castnet::cpu::inline CASTNET_TARGET
