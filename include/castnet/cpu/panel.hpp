// Products of matrices panel by panel: a few columns of the right factor, packed row after row,
// meet the rows of the left one while they are in the cache.
#pragma once

#include <castnet/cpu/amx_block.hpp>
#include <castnet/cpu/pack.hpp>

#include <algorithm>
#include <cstring>

namespace castnet::cpu::inline CASTNET_TARGET {

// Fetches one of `parts` shares of a matrix, in the order of memory, into the cache. Always inline:
// GCC 12 drops calls of a function that only fetches.
template <class T>
[[gnu::always_inline]] inline void prefetch(matrix<T> const& a, std::ptrdiff_t rows,
                                            std::ptrdiff_t columns, std::ptrdiff_t part,
                                            std::ptrdiff_t parts) {
    constexpr std::ptrdiff_t line = 64 / std::ptrdiff_t{sizeof(T)};
    bool const turned = a.column != 1;
    std::ptrdiff_t const count = turned ? columns : rows, length = turned ? rows : columns,
                         step = turned ? a.column : a.row;
    for (std::ptrdiff_t i = count * part / parts; i < count * (part + 1) / parts; ++i) {
        for (std::ptrdiff_t j = 0; j < length; j += line) {
            __builtin_prefetch(a.data + i * step + j, 0, 2);
        }
    }
}

// Whether a panel has no more than one line of the cache in each row. A part of it then fills most
// of the L1 cache: rows that lie turned, in as many lines as there are steps, are packed.
inline constexpr bool has_narrow_panels = vector_bytes * tile_vectors <= 64;

// Bytes of a right factor from which on its next panel is fetched while rows meet one. Smaller ones
// are in the L2 cache.
inline constexpr std::ptrdiff_t fetched_ahead = 512 << 10;

// The most rows of a left factor that are packed for several panels, at the most steps of the depth
// that panel_scratch holds: part of an L2 cache.
template <class F>
inline constexpr std::ptrdiff_t most_packed_rows =
    294912 / std::ptrdiff_t{sizeof(F)} / (panel_scratch<F>::size / tile_columns<F>) / tile_rows *
    tile_rows;

// The rows of the left factor under a part of the depth of so many steps: where they lie; or
// packed, where they lie turned and several narrow panels meet them; or, in pairs, some of them
// rounded.
template <class F>
class left_rows {
public:
    left_rows(matrix<F> const& a, std::ptrdiff_t steps, std::ptrdiff_t rows, std::ptrdiff_t panels)
        : a_{a}, next_tile_{((steps * tile_rows / line + 1) | 1) * line},
          packed_{has_narrow_panels && a.row == 1 && a.column != 1 && panels >= 4 &&
                          rows <= most_packed_rows<F>
                      ? memory()
                      : nullptr} {
        if (packed_) {
            pack(steps, rows);
        }
    }

    std::ptrdiff_t column() const { return packed_ ? tile_rows : a_.column; } // from step to step
    // Before the rows from `first` on, of which there are `rows`.
    void prepare(std::ptrdiff_t, std::ptrdiff_t) {}
    F const* row(std::ptrdiff_t i) const {
        return packed_ ? packed_ + i / tile_rows * next_tile_ + i % tile_rows
                       : a_.data + i * a_.row;
    }

private:
    static constexpr std::ptrdiff_t line = 64 / std::ptrdiff_t{sizeof(F)};

    // Of each thread, since some C libraries give threads small stacks.
    static F* memory() {
        constexpr std::ptrdiff_t tiles = most_packed_rows<F> / tile_rows,
                                 steps = panel_scratch<F>::size / tile_columns<F>;
        alignas(
            64) static thread_local F rows[size_t((tiles + 1) * (steps * tile_rows + 2 * line))];
        return rows;
    }

    void pack(std::ptrdiff_t steps, std::ptrdiff_t rows) {
        std::ptrdiff_t const tiles = rows / tile_rows;
        F const* from = a_.data;
        F* to = packed_;
        for (std::ptrdiff_t k = 0; k < steps; ++k, from += a_.column, to += tile_rows) {
            for (std::ptrdiff_t i = 0; i < tiles; ++i) {
                std::memcpy(to + i * next_tile_, from + i * tile_rows, tile_rows * sizeof(F));
            }
            std::copy_n(from + tiles * tile_rows, rows - tiles * tile_rows,
                        to + tiles * next_tile_);
        }
    }

    matrix<F> a_;
    std::ptrdiff_t next_tile_; // lines, an even number of which tiles would share in the cache
    F* packed_;
};
template <>
class left_rows<bfloat16_pair> {
public:
    left_rows(matrix<float> const& a, std::ptrdiff_t depth, std::ptrdiff_t, std::ptrdiff_t)
        : a_{a}, depth_{depth} {}

    std::ptrdiff_t column() const { return a_.column == 1 ? 1 : at_once; }
    void prepare(std::ptrdiff_t first, std::ptrdiff_t rows) {
        if (first % at_once != 0) {
            return;
        }
        float const* from = a_.data + first * a_.row;
        std::ptrdiff_t const count = std::min(at_once, rows);
        if (a_.column == 1) {
            for (std::ptrdiff_t i = 0; i < count; ++i, from += a_.row) {
                round_neighbours(from, depth_, rounded_ + i * most_steps);
            }
        } else {
            for (std::ptrdiff_t k = 0; k < depth_; k += 2, from += 2 * a_.column) {
                round_rows(from, k + 1 < depth_ ? from + a_.column : nullptr, count,
                           rounded_ + k / 2 * at_once);
            }
        }
    }
    bfloat16_pair const* row(std::ptrdiff_t i) const {
        return rounded_ + i % at_once * (a_.column == 1 ? most_steps : 1);
    }

private:
    static constexpr std::ptrdiff_t at_once = std::ptrdiff_t{8} * tile_rows,
                                    most_steps = panel_scratch<bfloat16_pair>::size /
                                                 tile_columns<bfloat16_pair>;
    matrix<float> a_;
    std::ptrdiff_t depth_;
    bfloat16_pair rounded_[size_t(at_once * most_steps)];
};

// Part of a panel of a product's right factor, from a row and a column on.
template <class T>
struct right_part {
    matrix<T> from;
    std::ptrdiff_t depth, columns;

    right_part(product<T> const& p, std::ptrdiff_t row, std::ptrdiff_t column,
               std::ptrdiff_t most_rows, std::ptrdiff_t most_columns)
        : from{p.b.data + row * p.b.row + column * p.b.column, p.b.row, p.b.column},
          depth{std::min(most_rows, p.k - row)},
          columns{std::clamp(p.n - column, std::ptrdiff_t{0}, most_columns)} {}
};

// The same as multiply_panels for at most amx_left::most_rows rows: they are rounded once for all
// panels.
template <class F>
void multiply_panels_by_amx(product<sum_type<F>> const& p, std::ptrdiff_t left,
                            std::ptrdiff_t right, std::ptrdiff_t top, std::ptrdiff_t bottom,
                            std::ptrdiff_t steps, F const* packed) {
    using T = sum_type<F>;
    constexpr std::ptrdiff_t width = tile_columns<F>;
    std::ptrdiff_t const most = steps * numbers_in<F>;
    panel_scratch<F> part;
    std::ptrdiff_t begin = 0;
    do { // at least once: a sum over no samples is 0
        std::ptrdiff_t const end = std::min(begin + most, p.k);
        tile_end<T> mine = end == p.k ? p.end : tile_end<T>{};
        mine.accumulate = p.end.accumulate || begin > 0;
        tile_depth<F> d{steps_of<F>(end - begin), nullptr, part.data, width};
        amx_block<F> rows{d.steps};
        rows.take(matrix<T>{p.a.data + top * p.a.row + begin * p.a.column, p.a.row, p.a.column},
                  bottom - top, end - begin, p.c + top * p.c_row, p.c_row);
        for (std::ptrdiff_t j = left; j < right; j += width) {
            right_part<T> const here{p, begin, j, most, width};
            if (packed) {
                d.b = packed + j * steps_of<F>(p.k) + steps_of<F>(begin) * width;
                d.next = d.b + steps_of<F>(p.k) * width;
            } else {
                pack_panel<F>(here.depth, here.columns, here.from, part.data);
            }
            rows.multiply(j, static_cast<int>(here.columns), d, mine);
        }
        begin = end;
    } while (begin < p.k);
}

// Columns of a product from left to right, in its rows from top to bottom: panel by panel for each
// part of the depth. `steps` of it, at most most_steps_at_once, are taken at once, so few that a
// packed panel of them has room in panel_scratch. All panels are `packed` already, or the part of
// each is now, or none: then they must have contiguous rows, and are read up to whole vectors.
// Where c turns, there is one panel.
template <class F>
void multiply_panels(product<sum_type<F>> const& p, std::ptrdiff_t left, std::ptrdiff_t right,
                     std::ptrdiff_t top, std::ptrdiff_t bottom, std::ptrdiff_t steps, bool pack,
                     F const* packed = nullptr) {
    if constexpr (knows_amx<F>) {
        if (uses_amx<F>()) {
            multiply_panels_by_amx(p, left, right, top, bottom, steps, packed);
            return;
        }
    }
    using T = sum_type<F>;
    constexpr std::ptrdiff_t width = tile_columns<F>;
    std::ptrdiff_t const tiles = (bottom - top + tile_rows - 1) / tile_rows;
    std::ptrdiff_t const most = steps * numbers_in<F>;
    bool const in_place = !packed && !pack && numbers_in<F> == 1;
    bool const fetches =
        !packed && !in_place && p.k * p.n > fetched_ahead / std::ptrdiff_t{sizeof(T)};
    panel_scratch<F> part;
    T turning[size_t(most_turned_rows * width)];
    std::ptrdiff_t offset[most_steps_at_once];
    if (p.turns && p.end.accumulate) {
        transpose(right - left, p.m, p.c + left * p.c_row, p.c_row, turning, width);
    }
    std::ptrdiff_t begin = 0;
    do { // at least once: a sum over no samples is 0
        std::ptrdiff_t const end = std::min(begin + most, p.k);
        left_rows<F> under{{p.a.data + top * p.a.row + begin * p.a.column, p.a.row, p.a.column},
                           end - begin,
                           bottom - top,
                           panel_count(right - left, width)};
        tile_depth<F> d{steps_of<F>(end - begin), offset, part.data, width};
        bool leaves_out = p.has_zeros && pack && numbers_in<F> == 1;
        for (std::ptrdiff_t k = begin; k < end && leaves_out; ++k) {
            leaves_out = all_finite(p.a.data + top + k * p.a.column, bottom - top);
        }
        for (std::ptrdiff_t s = 0; s < d.steps; ++s) {
            offset[s] = s * under.column();
        }
        tile_end<T> mine = end == p.k ? p.end : tile_end<T>{};
        mine.accumulate = p.end.accumulate || begin > 0;
        for (std::ptrdiff_t j = left; j < right; j += width) {
            right_part<T> const here{p, begin, j, most, width};
            if (packed) {
                d.b = packed + j * steps_of<F>(p.k) + steps_of<F>(begin) * width;
            } else if (leaves_out) {
                if constexpr (numbers_in<F> == 1) {
                    d.steps = pack_nonzero(here.depth, here.columns, here.from, part.data,
                                           under.column(), offset);
                }
            } else if (!in_place) {
                pack_panel<F>(here.depth, here.columns, here.from, part.data);
            }
            bool const goes_deeper = j + width >= right && end < p.k;
            right_part<T> const next{p,
                                     goes_deeper         ? end
                                     : j + width < right ? begin
                                                         : 0,
                                     goes_deeper ? left : j + width, most, width};
            for (std::ptrdiff_t i = 0; i < tiles; ++i) {
                std::ptrdiff_t const first = top + i * tile_rows,
                                     last = std::min(first + tile_rows, bottom);
                under.prepare(first - top, bottom - first);
                tile_pointers<F> rows;
                for (std::ptrdiff_t r = first; r < last; ++r) {
                    rows.push(under.row(r - top),
                              p.turns ? turning + r * width : p.c + r * p.c_row + j);
                }
                rows.repeat_last();
                if constexpr (numbers_in<F> == 1) {
                    if (in_place) { // two vectors of each row by a tile, and what ends beyond
                        d.b = here.from.data;
                        d.b_stride = here.from.row;
                        d.next = i * 2 <= tile_vectors && next.columns > 0
                                     ? next.from.data + i * 2 * simd<T>::width
                                     : nullptr;
                    }
                }
                if (p.turns && p.a.column == 1) { // large, and read once
                    bool const ends_here = last == bottom;
                    std::ptrdiff_t const row = ends_here ? top : last,
                                         column = ends_here ? end : begin;
                    prefetch<T>({p.a.data + row * p.a.row + column, p.a.row, 1},
                                std::min<std::ptrdiff_t>(tile_rows, bottom - row),
                                std::min(most, p.k - column), 0, 1);
                }
                if (fetches) {
                    prefetch<T>(next.from, next.depth, next.columns, i, tiles);
                }
                tile_panel(&rows, 1, 0, static_cast<int>(here.columns), d, mine.from(j));
            }
        }
        begin = end;
    } while (begin < p.k);
    if (p.turns) {
        transpose(p.m, right - left, turning, width, p.c + left * p.c_row, p.c_row);
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
