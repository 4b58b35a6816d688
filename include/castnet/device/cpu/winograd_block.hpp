// Blocks of transformed tiles (winograd.hpp): where they lie, and how many are transformed at once.
#pragma once

#include <castnet/device/cpu/panels.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/cpu/winograd.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// A block of transformed tiles as rows of A: for every place in a tile and each of its sections,
// vectors of channels, of each those of all tiles. One vector between two places keeps them apart
// in the cache. Channels, or tiles where two of them make a pair, are counted in factors.
template <class F>
struct tile_block {
    std::ptrdiff_t tiles, channels; // whole vectors

    constexpr std::ptrdiff_t next_vector() const { return tiles * simd<F>::width; }
    constexpr std::ptrdiff_t next_section() const { return tiles * channels; }
    constexpr std::ptrdiff_t place(int place, std::ptrdiff_t sections_before) const {
        return sections_before * next_section() + place * simd<F>::width;
    }
    constexpr std::ptrdiff_t size(std::ptrdiff_t sections) const {
        return aligned(place(winograd_places, sections));
    }
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

// A piece down and one across, with their numbers on their axes.
struct piece_pair {
    tap_piece down, across;
    int down_index, across_index;

    // The section of a place that is theirs, if they have this place.
    constexpr int section(tiling const& t, int place) const {
        return down_index * t.across.pieces_at(place % winograd_points) + across_index;
    }
    // Their first tap as a place in the window, and from there to the next one down and across.
    constexpr std::ptrdiff_t first_tap(tiling const& t, window const& w) const {
        return std::ptrdiff_t{t.down.place_in_window(down.first)} * w.kernel_w +
               t.across.place_in_window(across.first);
    }
};
constexpr std::ptrdiff_t next_row(tiling const& t, window const& w) {
    return std::ptrdiff_t{t.down.stride} * t.down.tap_step * w.kernel_w;
}
constexpr std::ptrdiff_t next_column(tiling const& t) {
    return std::ptrdiff_t{t.across.stride} * t.across.tap_step;
}

// Calls f(pair, taps down, taps across), as with_taps does, for all pairs of pieces.
template <bool Split, class F>
void for_each_piece(tiling const& t, F const& f) {
    if constexpr (!Split) {
        f(piece_pair{{0, 3}, {0, 3}, 0, 0}, tap_count<3>{}, tap_count<3>{});
    } else {
        for (int i = 0; i < t.down.pieces(); ++i) {
            for (int j = 0; j < t.across.pieces(); ++j) {
                piece_pair const p{t.down.piece(i), t.across.piece(j), i, j};
                with_taps<Split>(p.down.taps, p.across.taps,
                                 [&](auto down, auto across) { f(p, down, across); });
            }
        }
    }
}

// Transformed weights that do not fit an L2 cache are multiplied with as many tiles as possible at
// once: all threads share these tiles.
template <class F>
constexpr bool shares_tiles(tiling const& t) {
    return std::ptrdiff_t{t.sections()} * t.channels * t.filters >
           winograd_shared_weights / std::ptrdiff_t{sizeof(F)} * numbers_in<F>;
}
// The most tiles that are transformed at once. A chunk's tiles and their products should fit an L2
// cache, shared ones an L3 cache.
template <class F>
constexpr std::ptrdiff_t block_tiles(tiling const& t, bool shared) {
    std::ptrdiff_t const cache =
        (shared ? winograd_shared_cache : winograd_chunk_cache) / std::ptrdiff_t{sizeof(F)};
    std::ptrdiff_t const fit =
        cache / (t.sections() * steps_of<F>(t.channels) + winograd_places * t.filters);
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
// Roughly the operations that transform so many tiles.
inline double transform_work(tiling const& t, std::ptrdiff_t tiles) {
    return double(tiles) * (t.sections() * t.channels + winograd_places * t.filters);
}
// Calls f(i, run) for runs of the tiles from `first` on, shared by the threads.
template <class F>
void share_tiles(tiling const& t, std::ptrdiff_t first, std::ptrdiff_t tiles, F const& f) {
    share_range(tiles, transform_work(t, tiles), [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        for_each_run(t, first + begin, end - begin,
                     [&](std::ptrdiff_t i, tile_run const& run) { f(begin + i, run); });
    });
}
// Calls f(i, tiles) for the steps of a depth from the i-th on: a run of tiles, or where two make a
// step, one pair of them.
template <class F, class Transform>
void share_steps(tiling const& t, std::ptrdiff_t first, std::ptrdiff_t tiles, Transform const& f) {
    if constexpr (numbers_in<F> == 1) {
        share_tiles(t, first, tiles, f);
    } else {
        tile_places const place{t};
        share_range(steps_of<F>(tiles), transform_work(t, tiles),
                    [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                        for (std::ptrdiff_t i = begin; i < end; ++i) {
                            bool const whole = 2 * i + 1 < tiles;
                            f(i, tile_pair{{place[first + 2 * i],
                                            whole ? place[first + 2 * i + 1] : no_tile}});
                        }
                    });
    }
}

// Where the vectors of a pair of pieces begin in a block.
template <class F>
void find_sections(tiling const& t, tile_block<F> const& b, piece_pair const& p,
                   place_offsets& to) {
    for (int i = 0; i < winograd_places; ++i) {
        to[i] = b.place(i, t.sections_before(i) + p.section(t, i));
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
