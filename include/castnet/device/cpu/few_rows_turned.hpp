// Products of few rows with a right factor that lies turned, such as the gradient of a dense layer
// by the input of a few samples: rows times rows, so that the factor, which is much the larger one,
// is read once and in the order in which it lies.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/panel.hpp>
#include <castnet/cpu/transpose.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace castnet::cpu::inline CASTNET_TARGET {

// Columns of b that a few rows of a meet one after another. (More would be more places in memory
// than processors read ahead of.)
template <class T>
inline constexpr std::ptrdiff_t turned_columns = std::min(8, tile_columns<T>);

// The most rows for which this is faster than packed panels, and the least steps of the depth for
// each of more than two: so many take as long as adding up the lanes.
inline constexpr std::ptrdiff_t most_few_rows_turned = has_narrow_panels ? 8 : 24,
                                least_turned_steps = has_narrow_panels ? 24 : 12;

template <class T>
constexpr bool has_few_rows_turned(product<T> const& p) {
    return p.a.column == 1 && p.b.row == 1 && p.n >= turned_columns<T> && p.k >= simd<T>::width &&
           (p.m <= 2 || (p.m <= most_few_rows_turned && p.k >= least_turned_steps * p.m));
}

// sums (Rows x Columns) = some rows of a times some columns of b, both contiguous. The lanes of
// vectors have sums of their own, which are added up in the same order for all numbers of rows.
template <int Rows, int Columns, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
multiply_turned(std::ptrdiff_t depth, matrix<T> const& a, matrix<T> const& b, bool fetches,
                T (&sums)[size_t(Rows * Columns)]) {
    constexpr int width = simd<T>::width, count = Rows * Columns,
                  at_once = std::min({count, width, int(turned_columns<T>)});
    vec<T> sum[size_t(count)] = {};
    auto const add = [&](std::ptrdiff_t k, auto const& taken) __attribute__((always_inline)) {
        vec<T> left[size_t(Rows)];
        CASTNET_UNROLL
        for (int i = 0; i < Rows; ++i) {
            left[i] = taken(*reinterpret_cast<vec<T> const*>(a.data + i * a.row + k));
            CASTNET_OPAQUE_VECTOR(left[i]);
        }
        CASTNET_UNROLL
        for (int j = 0; j < Columns; ++j) {
            vec<T> right = taken(*reinterpret_cast<vec<T> const*>(b.data + j * b.column + k));
            if constexpr (Rows > 1) {
                CASTNET_OPAQUE_VECTOR(right);
            }
            CASTNET_UNROLL
            for (int i = 0; i < Rows; ++i) {
                vec<T>& to = sum[i * Columns + j];
                to = multiply_add(left[i], right, to);
            }
        }
    };
    std::ptrdiff_t k = 0;
    for (; k + width <= depth; k += width) {
        add(k, [](vec<T> const& x) __attribute__((always_inline)) { return x; });
        if (fetches) {
            CASTNET_UNROLL
            for (int j = 0; j < Columns; ++j) {
                __builtin_prefetch(b.data + (turned_columns<T> + j) * b.column + k, 0, 2);
            }
        }
    }
    if (k < depth) { // nothing need follow a column: its last vector, without what has been added
        vec<T> lane;
        for (int i = 0; i < width; ++i) {
            lane[i] = T(i);
        }
        vec<T> const zero{}, first = zero + T(width - (depth - k));
        add(depth - width, [&](vec<T> const& x)
                               __attribute__((always_inline)) { return lane < first ? zero : x; });
    }
    CASTNET_UNROLL
    for (int i = 0; i < count; i += at_once) {
        vec<T> some[size_t(at_once)];
        CASTNET_UNROLL
        for (int j = 0; j < at_once; ++j) {
            some[j] = sum[i + j];
        }
        add_lanes<T, at_once>(some);
        std::memcpy(sums + i, &some[0], at_once * sizeof(T));
    }
}

// The same of Rows rows at a time from row i on, as often as there are so many, and no more columns
// than turned_columns, from `left` on; rows of the sums lie `sums_row` apart.
template <int Rows, class T>
void sum_turned_rows(product<T> const& p, std::ptrdiff_t& i, std::ptrdiff_t left,
                     std::ptrdiff_t columns, T* sums, std::ptrdiff_t sums_row) {
    constexpr int width = std::min(int(turned_columns<T>), vector_registers / 2 / Rows);
    bool const large = p.k * p.n * std::ptrdiff_t{sizeof(T)} > few_rows_fetched_ahead;
    for (; i + Rows <= p.m; i += Rows) {
        for (std::ptrdiff_t j = 0; j < columns; j += width) {
            // the last ones end with the matrix, so they repeat some
            std::ptrdiff_t const first = std::min(left + j, p.n - width),
                                 repeated = left + j - first;
            T block[size_t(Rows * width)];
            multiply_turned<Rows, width, T>(p.k, {p.a.data + i * p.a.row, p.a.row, 1},
                                            {p.b.data + first * p.b.column, 1, p.b.column},
                                            large && i == 0, block);
            for (std::ptrdiff_t row = 0; row < Rows; ++row) {
                std::copy_n(block + row * width + repeated, std::min(width - repeated, columns - j),
                            sums + (i + row) * sums_row + j);
            }
        }
    }
}

// sums (rows x columns, rows `sums_row` apart) = some columns of a * b, from `left` on.
template <class T>
void sum_turned(product<T> const& p, std::ptrdiff_t left, std::ptrdiff_t columns, T* sums,
                std::ptrdiff_t sums_row) {
    constexpr std::ptrdiff_t at_once = turned_columns<T>;
    for (std::ptrdiff_t j = 0; j < columns; j += at_once) {
        std::ptrdiff_t const count = std::min(at_once, columns - j);
        std::ptrdiff_t i = 0;
        sum_turned_rows<4>(p, i, left + j, count, sums + j, sums_row);
        sum_turned_rows<2>(p, i, left + j, count, sums + j, sums_row);
        sum_turned_rows<1>(p, i, left + j, count, sums + j, sums_row);
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
