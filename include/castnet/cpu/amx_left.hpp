// Left factors of products by AMX (cpu/amx.hpp): rows as its tiles read them.
#pragma once

#include <castnet/cpu/amx.hpp>
#include <castnet/cpu/pack.hpp>
#include <castnet/cpu/transpose.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

#if CASTNET_HAS_AMX

// Rows of a left factor as tiles read them: of each 16 rows tile after tile along the depth.
class amx_left {
public:
    // At once: part of an L2 cache.
    static constexpr std::ptrdiff_t most_rows = std::ptrdiff_t{most_tiles} * tile_rows,
                                    most_steps = panel_scratch<bfloat16_pair>::size /
                                                 tile_columns<bfloat16_pair>;

    explicit amx_left(std::ptrdiff_t steps)
        : steps_{steps}, next_rows_{(steps + amx_steps - 1) / amx_steps * amx_tile} {}

    bfloat16_pair const* rows_from(std::ptrdiff_t first) const {
        return data_ + first / amx_rows * next_rows_;
    }

    // Rounds rows of a matrix, each `depth` numbers.
    void round(matrix<float> const& a, std::ptrdiff_t rows, std::ptrdiff_t depth) {
        if (a.column == 1) {
            round_rows_of(a.data, a.row, rows, depth);
        } else {
            round_columns(a.data, a.column, rows, depth);
        }
    }
    // Gathers the steps at these offsets of rows that begin anywhere.
    void gather(bfloat16_pair const* const* row, std::ptrdiff_t rows,
                std::ptrdiff_t const* offset) {
        for (std::ptrdiff_t k = 0; k < steps_; k += amx_steps, offset += amx_steps) {
            std::ptrdiff_t const count = std::min(amx_steps, steps_ - k);
            std::ptrdiff_t neighbours = 1;
            while (neighbours < count && offset[neighbours] == offset[0] + neighbours) {
                ++neighbours;
            }
            for (std::ptrdiff_t i = 0; i < rows; i += amx_rows) {
                gather_tile(row + i, std::min(amx_rows, rows - i), offset, count,
                            neighbours == count, place(i, k));
            }
        }
    }

private:
    // Of each thread, since some C libraries give threads small stacks.
    static bfloat16_pair* memory() {
        alignas(64) static thread_local bfloat16_pair data[size_t(most_rows * most_steps)];
        return data;
    }
    bfloat16_pair* place(std::ptrdiff_t row, std::ptrdiff_t step) {
        return data_ + row / amx_rows * next_rows_ + step / amx_steps * amx_tile +
               row % amx_rows * amx_steps;
    }

    // Rows that lie `next` apart; or where columns are contiguous and do.
    CASTNET_WIDE_VECTORS void round_rows_of(float const* from, std::ptrdiff_t next,
                                            std::ptrdiff_t rows, std::ptrdiff_t depth) {
        constexpr std::ptrdiff_t width = simd<float>::width;
        for (std::ptrdiff_t i = 0; i < rows; ++i, from += next) {
            bfloat16_pair* to = place(i, 0);
            std::ptrdiff_t k = 0;
            for (; k + amx_depth <= depth; k += amx_depth, to += amx_tile) {
                *reinterpret_cast<vec<bfloat16_pair>*>(to) =
                    rounded_neighbours(*reinterpret_cast<vec<float> const*>(from + k),
                                       *reinterpret_cast<vec<float> const*>(from + k + width));
            }
            if (k < depth) {
                std::fill_n(to, amx_steps, bfloat16_pair{});
                round_neighbours(from + k, depth - k, to);
            }
        }
    }
    void round_columns(float const* from, std::ptrdiff_t next, std::ptrdiff_t rows,
                       std::ptrdiff_t depth) {
        bfloat16_pair turned[size_t(amx_tile)] = {};
        for (std::ptrdiff_t k = 0; k < depth; k += amx_depth, from += amx_depth * next) {
            for (std::ptrdiff_t i = 0; i < rows; i += amx_rows) {
                std::ptrdiff_t const count = std::min(amx_rows, rows - i);
                float const* pair = from + i;
                for (std::ptrdiff_t s = 0; s < amx_steps; ++s, pair += 2 * next) {
                    std::ptrdiff_t const left = depth - k - 2 * s;
                    round_rows(left > 0 ? pair : nullptr, left > 1 ? pair + next : nullptr, count,
                               turned + s * amx_rows);
                }
                transpose_block(turned, amx_rows, place(i, k / 2), amx_steps);
            }
        }
    }

    static void gather_tile(bfloat16_pair const* const* row, std::ptrdiff_t rows,
                            std::ptrdiff_t const* offset, std::ptrdiff_t count, bool neighbours,
                            bfloat16_pair* to) {
        using vector = vec<bfloat16_pair>;
        if (neighbours && count == amx_steps) {
            for (std::ptrdiff_t i = 0; i < rows; ++i) {
                *reinterpret_cast<vector*>(to + i * amx_steps) =
                    *reinterpret_cast<vector const*>(row[i] + offset[0]);
            }
            return;
        }
        std::ptrdiff_t beside = 1; // rows
        while (beside < rows && row[beside] == row[0] + beside) {
            ++beside;
        }
        if (beside == amx_rows) {
            bfloat16_pair turned[size_t(amx_tile)] = {};
            for (std::ptrdiff_t s = 0; s < count; ++s) {
                *reinterpret_cast<vector*>(turned + s * amx_rows) =
                    *reinterpret_cast<vector const*>(row[0] + offset[s]);
            }
            transpose_block(turned, amx_rows, to, amx_steps);
            return;
        }
        for (std::ptrdiff_t i = 0; i < rows; ++i, to += amx_steps) {
            for (std::ptrdiff_t s = 0; s < amx_steps; ++s) {
                to[s] = s < count ? row[i][offset[s]] : bfloat16_pair{};
            }
        }
    }

    std::ptrdiff_t steps_, next_rows_;
    bfloat16_pair* data_ = memory();
};

#endif

} // namespace castnet::cpu::inline CASTNET_TARGET
