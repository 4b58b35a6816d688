// Cache blocking of products: many rows of A are multiplied with one packed panel of B (a few
// columns, row after row) while it is in the cache.
#pragma once

#include <castnet/cpu/amx_block.hpp>
#include <castnet/cpu/panel.hpp>
#include <castnet/device/cpu/depth.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

// Size of B (depth x columns) in panels, in factors; the depth counts factors.
template <class F>
constexpr std::ptrdiff_t packed_size(std::ptrdiff_t depth, std::ptrdiff_t columns) {
    return panel_count(columns, tile_columns<F>) * depth * tile_columns<F>;
}

template <class F>
void pack_panels(std::ptrdiff_t depth, std::ptrdiff_t columns, matrix<sum_type<F>> const& b,
                 F* to) {
    constexpr std::ptrdiff_t width = tile_columns<F>;
    for (std::ptrdiff_t j = 0; j < columns; j += width, to += steps_of<F>(depth) * width) {
        pack_panel<F>(depth, std::min(width, columns - j), {b.data + j * b.column, b.row, b.column},
                      to);
    }
}

// B in panels, or row-major: then the next panel begins a tile's columns further on.
template <class F>
struct panels {
    F const* data;
    std::ptrdiff_t stride; // between two rows of a panel
    std::ptrdiff_t next;   // from one panel to the next
};

// Batch of rows that are multiplied together.
template <class F>
class row_block {
public:
    static constexpr std::ptrdiff_t most_steps = // of a part of the depth
        panel_part / (tile_columns<F> * static_cast<std::ptrdiff_t>(sizeof(F)));

    // So many of B stay in a processor's second cache, from which vectors come fast enough.
    static constexpr std::ptrdiff_t cached_factors =
        (std::ptrdiff_t{128} << 10) / static_cast<std::ptrdiff_t>(sizeof(F));

    void push(F const* from, sum_type<F>* to) {
        if (tiles_ == 0 || tile_[tiles_ - 1].full()) {
            tile_[tiles_++].rows = 0;
        }
        tile_[tiles_ - 1].push(from, to);
    }
    bool full() const { return tiles_ == most && tile_[most - 1].full(); }

    // Adds the rows from + i * from_step for i < count, and their results' addresses likewise;
    // calls when_full(), which must multiply, for every full batch. (Much faster than one by one:
    // the counters stay in registers.)
    template <class Full>
    void push_run(std::ptrdiff_t count, F const* from, std::ptrdiff_t from_step, sum_type<F>* to,
                  std::ptrdiff_t to_step, Full const& when_full) {
        while (count > 0) {
            if (tiles_ == 0 || tile_[tiles_ - 1].full()) {
                tile_[tiles_++].rows = 0;
            }
            tile_pointers<F>& last = tile_[tiles_ - 1];
            int const begin = last.rows;
            int const end =
                begin + static_cast<int>(std::min<std::ptrdiff_t>(tile_rows - begin, count));
            for (int i = begin; i < end; ++i, from += from_step, to += to_step) {
                CASTNET_OPAQUE(i); // too few for vectorization
                last.a[i] = from;
                last.c[i] = to;
            }
            last.rows = end;
            count -= end - begin;
            if (full()) {
                when_full();
            }
        }
    }

    // C = A * B with the epilogue `end` for the batch of rows, which is empty afterwards. The depth
    // is taken in parts, so that the part of a panel stays in the cache.
    [[gnu::noinline]] void multiply(depth const& d, panels<F> const& b, std::ptrdiff_t columns,
                                    tile_end<sum_type<F>> const& end = {}) {
        if (tiles_ == 0) {
            return;
        }
        tile_[tiles_ - 1].repeat_last();
        std::ptrdiff_t const steps = d.steps(), parts = (steps + most_steps - 1) / most_steps;
        std::ptrdiff_t offset[size_t(most_steps)];
        depth_walk walk{d};
        for (std::ptrdiff_t part = 0; part < parts; ++part) {
            std::ptrdiff_t const first = steps * part / parts;
            std::ptrdiff_t const count = steps * (part + 1) / parts - first;
            walk.next(count, offset);
            tile_end<sum_type<F>> mine = part == parts - 1 ? end : tile_end<sum_type<F>>{};
            mine.accumulate = end.accumulate || part > 0;
            bool const fetches = packed_size<F>(steps, columns) > cached_factors;
            F const* panel = b.data + first * b.stride;
            F const* const next_part = b.data + (part < parts - 1 ? first + count : 0) * b.stride;
            // calls multiply(column, columns, their rows of B)
            auto const each_panel = [&](auto const& multiply) {
                for (std::ptrdiff_t j = 0; j < columns; j += tile_columns<F>, panel += b.next) {
                    bool const is_last = j + tile_columns<F> >= columns;
                    multiply(
                        j, static_cast<int>(std::min<std::ptrdiff_t>(tile_columns<F>, columns - j)),
                        tile_depth<F>{count, offset, panel, b.stride,
                                      !fetches  ? nullptr
                                      : is_last ? next_part
                                                : panel + b.next});
                }
            };
            if constexpr (knows_amx<F>) {
                if (uses_amx<F>()) {
                    amx_block<F> rows{count};
                    rows.take(tile_, tiles_, offset);
                    each_panel([&](std::ptrdiff_t j, int here, tile_depth<F> const& right) {
                        rows.multiply(j, here, right, mine);
                    });
                    continue;
                }
            }
            each_panel([&](std::ptrdiff_t j, int here, tile_depth<F> const& right) {
                tile_panel(tile_, tiles_, j, here, right, mine);
            });
        }
        tiles_ = 0;
    }

private:
    static constexpr int most = 34; // 14 x 14 pixels are one batch

    tile_pointers<F> tile_[most];
    int tiles_ = 0;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
