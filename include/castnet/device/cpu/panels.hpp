// Blocks of tiles: many rows of A meet one panel of B, a few columns packed one row after another,
// while the panel is in the L1 cache.
#pragma once

#include <castnet/device/cpu/tile.hpp>

#include <algorithm>

namespace castnet::cpu {

constexpr std::ptrdiff_t panel_count(std::ptrdiff_t columns, std::ptrdiff_t width) {
    return (columns + width - 1) / width;
}

// Elements of B (depth x columns) in panels.
template <class T>
constexpr std::ptrdiff_t packed_size(std::ptrdiff_t depth, std::ptrdiff_t columns) {
    return panel_count(columns, tile_columns<T>) * depth * tile_columns<T>;
}

// `columns` <= a tile's columns of B, whose rows lie `stride` apart.
template <class T>
void pack_panel(std::ptrdiff_t depth, std::ptrdiff_t columns, T const* b, std::ptrdiff_t stride,
                T* to) {
    for (std::ptrdiff_t k = 0; k < depth; ++k) {
        std::copy_n(b + k * stride, columns, to + k * tile_columns<T>);
        std::fill_n(to + k * tile_columns<T> + columns, tile_columns<T> - columns, T(0));
    }
}

template <class T>
void pack_panels(std::ptrdiff_t depth, std::ptrdiff_t columns, T const* b, std::ptrdiff_t stride,
                 T* to) {
    constexpr std::ptrdiff_t width = tile_columns<T>;
    for (std::ptrdiff_t j = 0; j < columns; j += width, to += depth * width) {
        pack_panel(depth, std::min(width, columns - j), b + j, stride, to);
    }
}

// B in panels, or as it lies: then the next panel begins a tile's columns further on.
template <class T>
struct panels {
    T const* data;
    std::ptrdiff_t stride; // between two rows of a panel
    std::ptrdiff_t next;   // from one panel to the next
};

// Rows that are collected and multiplied together.
template <class T>
class row_block {
public:
    void push(T const* from, T* to) {
        if (tiles_ == 0 || tile_[tiles_ - 1].full()) {
            tile_[tiles_++].rows = 0;
        }
        tile_[tiles_ - 1].push(from, to);
    }
    bool full() const { return tiles_ == most && tile_[most - 1].full(); }

    // C (+)= A * B for the rows collected, which are forgotten then.
    void multiply(depth const& d, panels<T> const& b, std::ptrdiff_t columns, bool accumulate) {
        if (tiles_ == 0) {
            return;
        }
        tile_[tiles_ - 1].repeat_last();
        T const* panel = b.data;
        for (std::ptrdiff_t j = 0; j < columns; j += tile_columns<T>, panel += b.next) {
            int const left =
                static_cast<int>(std::min<std::ptrdiff_t>(tile_columns<T>, columns - j));
            for_each_part(d, [&](depth const& part, std::ptrdiff_t skip, std::ptrdiff_t first) {
                tile_panel(tile_, tiles_, skip, j, part, panel + first * b.stride, b.stride, left,
                           accumulate || first > 0);
            });
        }
        tiles_ = 0;
    }

private:
    static constexpr int most = 16;

    // Calls f(part, where it begins in A, its first step) for parts of the depth so short that
    // their share of a panel fits half of the L1 cache.
    template <class F>
    static void for_each_part(depth const& d, F const& f) {
        constexpr std::ptrdiff_t limit =
            24576 / (tile_columns<T> * static_cast<std::ptrdiff_t>(sizeof(T)));
        std::ptrdiff_t const run = d.length, slice = run * d.inner;
        // as many slices, or runs of a slice, or steps of a run at a time as stay within the limit
        std::ptrdiff_t const slices = even_share(d.outer, limit / slice);
        std::ptrdiff_t const runs = even_share(d.inner, limit / run);
        std::ptrdiff_t const steps = even_share(run, limit);
        for (std::ptrdiff_t o = 0; o < d.outer; o += slices) {
            for (std::ptrdiff_t i = 0; i < d.inner; i += runs) {
                for (std::ptrdiff_t k = 0; k < run; k += steps) {
                    depth part = d;
                    part.outer = std::min(slices, d.outer - o);
                    part.inner = std::min(runs, d.inner - i);
                    part.length = std::min(steps, run - k);
                    f(part, o * d.outer_step + i * d.inner_step + k * d.stride,
                      (o * d.inner + i) * run + k);
                }
            }
        }
    }
    // The size of `count` things' parts, as equal as can be, of at most `most` each, or one.
    static constexpr std::ptrdiff_t even_share(std::ptrdiff_t count, std::ptrdiff_t most) {
        std::ptrdiff_t const parts = most > 1 ? (count + most - 1) / most : count;
        return (count + parts - 1) / parts;
    }

    tile_pointers<T> tile_[most];
    int tiles_ = 0;
};

} // namespace castnet::cpu
