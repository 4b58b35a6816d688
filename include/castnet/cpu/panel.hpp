// Products of matrices panel by panel: a few columns of the right factor, packed row after row,
// meet the rows of the left one while they are in the L1 cache.
#pragma once

#include <castnet/cpu/tile.hpp>
#include <castnet/cpu/transpose.hpp>

#include <algorithm>
#include <cstring>

namespace castnet::cpu::inline CASTNET_TARGET {

// A matrix operand: element (i, j) lies at i * row + j * column.
template <class T>
struct matrix {
    T const* data;
    std::ptrdiff_t row, column;
};

// Packs a panel of b: `columns` columns, at most a tile's.
template <class T>
void pack_panel(std::ptrdiff_t depth, std::ptrdiff_t columns, matrix<T> const& b, T* to) {
    constexpr std::ptrdiff_t width = tile_columns<T>;
    if (b.column != 1) {
        if (columns < width) {
            std::fill_n(to, depth * width, T(0));
        }
        transpose(columns, depth, b.data, b.column, to, width);
        return;
    }
    T const* from = b.data;
    for (std::ptrdiff_t k = 0; k < depth; ++k, from += b.row, to += width) {
        if (columns == width) {
            std::memcpy(to, from, width * sizeof(T)); // a few vectors, no call
        } else {
            std::copy_n(from, columns, to);
            std::fill_n(to + columns, width - columns, T(0));
        }
    }
}

// What lies in a and will be read for the next rows.
template <class T>
void prefetch(matrix<T> const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
    constexpr std::ptrdiff_t line = 64 / std::ptrdiff_t{sizeof(T)};
    std::ptrdiff_t const down = a.row == 1 ? line : 1, across = a.column == 1 ? line : 1;
    for (std::ptrdiff_t i = 0; i < rows; i += down) {
        for (std::ptrdiff_t j = 0; j < columns; j += across) {
            __builtin_prefetch(a.data + i * a.row + j * a.column, 0, 2);
        }
    }
}

// For a part of a panel, so much that the L1 cache keeps it.
template <class T>
struct panel_scratch {
    static constexpr std::ptrdiff_t size = 8192;
    alignas(64) T data[size];
};

// The most steps of the depth at once where the right factor is not packed, and the most rows of a
// result that is computed turned.
inline constexpr std::ptrdiff_t most_unpacked_steps = 512, most_turned_rows = 16;

// c (m x n, rows c_row apart) = a (m x k) times b (k x n), ended so. Where it turns, c lies turned
// (as n x m), and m is at most most_turned_rows.
template <class T>
struct product {
    std::ptrdiff_t m, n, k;
    matrix<T> a, b;
    T* c;
    std::ptrdiff_t c_row;
    tile_end<T> end = {};
    bool turns = false;
};

// Columns of a product from `left` on (at most a tile's), in its rows from top to bottom. `steps`
// of the depth are taken at once; a panel that is not packed must have contiguous rows, and be read
// up to whole vectors.
template <class T>
void multiply_panel(product<T> const& p, std::ptrdiff_t left, std::ptrdiff_t top,
                    std::ptrdiff_t bottom, std::ptrdiff_t steps, bool pack) {
    constexpr std::ptrdiff_t width = tile_columns<T>;
    std::ptrdiff_t const columns = std::min(width, p.n - left);
    matrix<T> const &a = p.a, &b = p.b;
    panel_scratch<T> packed;
    T turning[size_t(most_turned_rows * width)];
    std::ptrdiff_t offset[most_unpacked_steps];
    for (std::ptrdiff_t s = 0; s < steps; ++s) {
        offset[s] = s * a.column;
    }
    // at least once: a sum over no samples is 0
    for (std::ptrdiff_t begin = 0; begin == 0 || begin < p.k; begin += steps) {
        matrix<T> const right{b.data + begin * b.row + left * b.column, b.row, b.column};
        tile_depth<T> d{std::min(steps, p.k - begin), offset, right.data, b.row};
        if (pack) {
            pack_panel(d.steps, columns, right, packed.data);
            d.b = packed.data;
            d.b_stride = width;
            if (begin + steps < p.k) {
                prefetch<T>({right.data + steps * b.row, b.row, b.column},
                            std::min(steps, p.k - begin - steps), columns);
            }
        }
        tile_end<T> mine = begin + steps >= p.k ? p.end.from(left) : tile_end<T>{};
        mine.accumulate = p.end.accumulate || begin > 0;
        for (std::ptrdiff_t first = top; first < bottom; first += tile_rows) {
            tile_pointers<T> rows;
            for (std::ptrdiff_t r = first; r < std::min(first + tile_rows, bottom); ++r) {
                rows.push(a.data + r * a.row + begin * a.column,
                          p.turns ? turning + r * width : p.c + r * p.c_row + left);
            }
            rows.repeat_last();
            std::ptrdiff_t const next = std::min(first + tile_rows, p.m - 1);
            prefetch<T>({a.data + next * a.row + begin * a.column, a.row, a.column},
                        std::min<std::ptrdiff_t>(tile_rows, p.m - next), d.steps);
            tile_panel(&rows, 1, 0, static_cast<int>(columns), d, mine);
        }
    }
    if (p.turns) {
        transpose(p.m, columns, turning, width, p.c + left * p.c_row, p.c_row);
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
