// Products of no more rows than a tile has with a packed right factor: steps of a loop over time of
// a few samples, whose weights come from the L2 cache again and again.
#pragma once

#include <castnet/cpu/panel.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace castnet::cpu::inline CASTNET_TARGET {

// Panels that a single row meets at once: the sums of one would wait for themselves.
inline constexpr int panels_side_by_side = 8 / tile_vectors;

// The products of a row with so many whole panels, `next_panel` apart.
template <int Panels, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
row_of_panels(T const* row, std::ptrdiff_t steps, T const* packed, std::ptrdiff_t next_panel, T* c,
              tile_end<T> const& end) {
    constexpr int width = simd<T>::width, vectors = Panels * tile_vectors;
    vec<T> sum[1][size_t(vectors)] = {};
    T const* panel[size_t(Panels)];
    CASTNET_UNROLL
    for (int i = 0; i < Panels; ++i) {
        panel[i] = packed + i * next_panel;
    }
    std::ptrdiff_t at = 0;
    for (T const* const last = row + steps; row != last; ++row, at += tile_columns<T>) {
        T const left = *row;
        CASTNET_UNROLL
        for (int j = 0; j < vectors; ++j) {
            T const* const right = panel[j / tile_vectors] + at + j % tile_vectors * width;
            sum[0][j] =
                plus_product<1, vectors>(sum[0][j], left, *reinterpret_cast<vec<T> const*>(right));
        }
    }
    if (end.accumulate) {
        CASTNET_UNROLL
        for (int j = 0; j < vectors; ++j) {
            sum[0][j] += *reinterpret_cast<vec<T> const*>(c + j * width);
        }
    }
    finish_sums<1, vectors, T>(sum, end, 0);
    CASTNET_UNROLL
    for (int j = 0; j < vectors; ++j) {
        *reinterpret_cast<vec<T>*>(c + j * width) = sum[0][j];
    }
}

// The same, where the number of panels is one of those that halving gives.
template <int Most = panels_side_by_side, class T>
void row_of_panels(std::ptrdiff_t panels, T const* row, std::ptrdiff_t steps, T const* packed,
                   std::ptrdiff_t next_panel, T* c, tile_end<T> const& end) {
    if constexpr (Most > 1) {
        if (panels < Most) {
            row_of_panels<Most / 2>(panels, row, steps, packed, next_panel, c, end);
            return;
        }
    }
    row_of_panels<Most>(row, steps, packed, next_panel, c, end);
}

// Panels are read from the last to the first if `backwards`: who alternates finds in the cache what
// was read last. `steps` of the depth are summed up at once, as in multiply_panels.
template <class T>
[[gnu::noinline]] void multiply_few_rows_packed(product<T> const& p, T const* packed,
                                                std::ptrdiff_t steps, bool backwards) {
    constexpr std::ptrdiff_t width = tile_columns<T>, most = panels_side_by_side;
    std::ptrdiff_t offset[most_steps_at_once];
    std::iota(offset, offset + std::min(steps, p.k), std::ptrdiff_t{0});
    std::ptrdiff_t const panels = panel_count(p.n, width);
    for (std::ptrdiff_t begin = 0; begin < p.k; begin += steps) {
        tile_pointers<T> rows;
        for (std::ptrdiff_t i = 0; i < p.m; ++i) {
            rows.push(p.a.data + i * p.a.row + begin, p.c + i * p.c_row);
        }
        rows.repeat_last();
        std::ptrdiff_t const end = std::min(begin + steps, p.k);
        tile_end<T> mine = end == p.k ? p.end : tile_end<T>{};
        mine.accumulate = p.end.accumulate || begin > 0;
        for (std::ptrdiff_t done = 0, taken = 1; done < panels; done += taken) {
            std::ptrdiff_t const rest = panels - done;
            std::ptrdiff_t whole = 0; // that a row meets next
            if (p.m == 1) {
                whole = !backwards ? p.n / width - done : rest * width <= p.n ? rest : 0;
            }
            taken = whole >= most ? most : whole >= most / 2 ? most / 2 : 1;
            std::ptrdiff_t const left = (backwards ? rest - taken : done) * width;
            T const* const from = packed + left * p.k + begin * width;
            if (whole > 0) {
                row_of_panels(taken, rows.a[0], end - begin, from, p.k * width, rows.c[0] + left,
                              mine.from(left));
            } else {
                tile_panel(&rows, 1, left, static_cast<int>(std::min(width, p.n - left)),
                           {end - begin, offset, from, width}, mine);
            }
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
