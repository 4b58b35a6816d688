// Dense layers: y = x W, and its two gradients. W lies as (features, units), so that all three read
// along rows.
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/cpu/tile.hpp>
#include <castnet/device/cpu/transpose.hpp>

#include <algorithm>

namespace castnet::cpu {

// c (m x n) = a (m x k, element (i, j) at i * row + j * column) times b (k x n).
//
// In blocks: of b as much as the L1 cache holds, packed where its rows are longer than a tile,
// meets a piece of a's rows.
template <class T>
void multiply(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, T const* a, std::ptrdiff_t row,
              std::ptrdiff_t column, T const* b, T* c) {
    constexpr std::ptrdiff_t width = tile_columns<T>, steps = 8192 / width;
    std::ptrdiff_t const panels = (n + width - 1) / width;
    std::ptrdiff_t const piece = std::ptrdiff_t{panels > 1 ? 24 : 4} * tile_rows;
    std::ptrdiff_t const pieces = (m + piece - 1) / piece;
    parallel_for(panels * pieces, 2.0 * double(m) * double(n) * double(k), [=](std::ptrdiff_t i) {
        std::ptrdiff_t const left = i / pieces * width, columns = std::min(width, n - left);
        std::ptrdiff_t const top = i % pieces * piece, bottom = std::min(top + piece, m);
        bool const pack = panels > 1 && bottom - top > tile_rows;
        T packed[steps * width];
        // at least once: a sum over no samples is 0
        for (std::ptrdiff_t begin = 0; begin == 0 || begin < k; begin += steps) {
            depth const d{std::min(steps, k - begin), column};
            T const* right = b + begin * n + left;
            if (pack) {
                for (std::ptrdiff_t s = 0; s < d.length; ++s) {
                    for (std::ptrdiff_t j = 0; j < width; ++j) {
                        packed[s * width + j] = j < columns ? right[s * n + j] : T(0);
                    }
                }
                right = packed;
            }
            for (std::ptrdiff_t first = top; first < bottom; first += tile_rows) {
                tile_pointers<T> p;
                for (std::ptrdiff_t r = first; r < std::min(first + tile_rows, bottom); ++r) {
                    p.push(a + r * row + begin * column, c + r * n + left);
                }
                tile_row(p, d, right, pack ? width : n, columns, begin > 0);
            }
        }
    });
}

template <class T>
void matmul(step const& s, tables const& t, context<T> const& c) {
    array_ref const &x = t.arrays[s.first_array], &y = t.arrays[s.output];
    std::ptrdiff_t const in = x.size.channels, out = y.size.channels;
    multiply(c.samples * x.size.pixels, out, in, c.at(x), in, 1, c.at(t.arrays[s.first_array + 1]),
             c.at(y));
}

template <class T>
void matmul_data(step const& s, tables const& t, context<T> const& c) {
    array_ref const &g = t.arrays[s.first_array], &dx = t.arrays[s.output];
    std::ptrdiff_t const in = dx.size.channels, out = g.size.channels;
    T const* const w = c.at(t.arrays[s.first_array + 1]);
    T* const turned = c.at(t.arrays[s.scratch]); // (units, features)
    std::ptrdiff_t const pieces = (out + transpose_block - 1) / transpose_block;
    parallel_for(pieces, double(in) * double(out), [=](std::ptrdiff_t piece) {
        std::ptrdiff_t const first = piece * transpose_block;
        transpose(in, std::min(transpose_block, out - first), w + first, out, turned + first * in,
                  in);
    });
    multiply(c.samples * g.size.pixels, in, out, c.at(g), out, 1, turned, c.at(dx));
}

template <class T>
void matmul_weight(step const& s, tables const& t, context<T> const& c) {
    array_ref const &x = t.arrays[s.first_array], &g = t.arrays[s.first_array + 1];
    std::ptrdiff_t const in = x.size.channels, out = g.size.channels;
    multiply(in, out, c.samples * x.size.pixels, c.at(x), 1, in, c.at(g), c.at(t.arrays[s.output]));
}

} // namespace castnet::cpu
