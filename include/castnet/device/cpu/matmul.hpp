// Dense layers: y = x W, and its two gradients. W lies as (features, units), so that all three read
// along rows.
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/cpu/tile.hpp>

namespace castnet::cpu {

// c (m x n) = a (m x k, element (i, j) at i * row + j * column) times b (k x n).
template <class T>
void multiply(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, T const* a, std::ptrdiff_t row,
              std::ptrdiff_t column, T const* b, T* c) {
    depth const d{k, column};
    std::ptrdiff_t const tiles = (m + tile_rows - 1) / tile_rows;
    parallel_for(tiles, 2.0 * double(m) * double(n) * double(k), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const first = i * tile_rows;
        std::ptrdiff_t const rows = m - first < tile_rows ? m - first : tile_rows;
        T const* pointers[tile_rows];
        for (std::ptrdiff_t r = 0; r < tile_rows; ++r) {
            pointers[r] = a + (first + (r < rows ? r : rows - 1)) * row;
        }
        tile_row(pointers, d, b, n, c + first * n, n, static_cast<int>(rows), n);
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
    parallel_for(out, double(in) * double(out), [&](std::ptrdiff_t o) {
        for (std::ptrdiff_t i = 0; i < in; ++i) {
            turned[o * in + i] = w[i * out + o];
        }
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
