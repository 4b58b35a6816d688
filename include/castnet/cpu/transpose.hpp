// Transposition of matrices, by blocks that are turned in vector registers.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/vector.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// Exchanges of two vectors the lanes of `low` with bit Distance by those of `high` without it. (No
// lambda with these lanes: nvcc 13.0 crashes.)
template <int Distance, class T, int Lanes, int... Lane>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
exchange_lanes(typename vector_of<T, Lanes>::type& low, typename vector_of<T, Lanes>::type& high,
               std::integer_sequence<int, Lane...>) {
    using vector = typename vector_of<T, Lanes>::type;
    vector const a = low, b = high;
    low = vector{(Lane & Distance ? b[Lane & ~Distance] : a[Lane])...};
    high = vector{(Lane & Distance ? b[Lane] : a[Lane | Distance])...};
}

// Turns a block of as many rows as a vector has lanes: for each power of two, the blocks of that
// size beside the diagonal change places.
template <int Distance, class T, int Lanes = simd<T>::width>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
turn_lanes(typename vector_of<T, Lanes>::type (&row)[size_t(Lanes)]) {
    if constexpr (Distance < Lanes) {
        CASTNET_UNROLL
        for (int i = 0; i < Lanes; ++i) {
            if ((i & Distance) == 0) {
                exchange_lanes<Distance, T, Lanes>(row[i], row[i + Distance],
                                                   std::make_integer_sequence<int, Lanes>{});
            }
        }
        turn_lanes<2 * Distance, T, Lanes>(row);
    }
}
// Adds to each lane all others whose number differs by a multiple of Distance.
template <class T, int Distance>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void add_lane_groups(vec<T>& row) {
    if constexpr (Distance < simd<T>::width) {
        vec<T> other = row;
        exchange_lanes<Distance, T, simd<T>::width>(
            row, other, std::make_integer_sequence<int, simd<T>::width>{});
        row += other;
        add_lane_groups<T, 2 * Distance>(row);
    }
}
// The first lanes of row[0] = the sums of all lanes of each of Count vectors, at most as many as
// they have lanes: halving their number, each lane with bit Distance of what is left is that of a
// vector with it.
template <class T, int Count, int Distance = Count / 2>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void add_lanes(vec<T> (&row)[size_t(Count)]) {
    constexpr auto lanes = std::make_integer_sequence<int, simd<T>::width>{};
    if constexpr (Distance > 0) {
        CASTNET_UNROLL
        for (int i = 0; i < Distance; ++i) {
            exchange_lanes<Distance, T, simd<T>::width>(row[i], row[i + Distance], lanes);
            row[i] += row[i + Distance];
        }
        add_lanes<T, Count, Distance / 2>(row);
    } else {
        add_lane_groups<T, Count>(row[0]);
    }
}
template <class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transpose_block(T const* from, std::ptrdiff_t from_stride, T* to, std::ptrdiff_t to_stride) {
    constexpr int width = simd<T>::width;
    vec<T> row[size_t(width)];
    CASTNET_UNROLL
    for (int i = 0; i < width; ++i) {
        row[i] = *reinterpret_cast<vec<T> const*>(from + i * from_stride);
    }
    turn_lanes<1, T>(row);
    CASTNET_UNROLL
    for (int i = 0; i < width; ++i) {
        *reinterpret_cast<vec<T>*>(to + i * to_stride) = row[i];
    }
}

// Rows and columns that are turned together: both stay in the L1 cache.
inline constexpr std::ptrdiff_t transpose_piece = 16;

// to[j, i] = from[i, j] for 0 <= i < rows and 0 <= j < columns; strides are those of a row. The
// last blocks end with the matrix, so they repeat some of it.
template <class T>
void transpose(std::ptrdiff_t rows, std::ptrdiff_t columns, T const* from,
               std::ptrdiff_t from_stride, T* to, std::ptrdiff_t to_stride) {
    constexpr std::ptrdiff_t width = simd<T>::width, piece = transpose_piece;
    for (std::ptrdiff_t top = 0; top < rows; top += piece) {
        std::ptrdiff_t const bottom = std::min(top + piece, rows);
        for (std::ptrdiff_t left = 0; left < columns; left += piece) {
            std::ptrdiff_t const right = std::min(left + piece, columns);
            if constexpr (width <= piece) { // not for bytes
                if (rows >= width && columns >= width) {
                    for (std::ptrdiff_t j = left; j < right; j += width) {
                        for (std::ptrdiff_t i = top; i < bottom; i += width) {
                            std::ptrdiff_t const row = std::min(i, rows - width),
                                                 column = std::min(j, columns - width);
                            transpose_block(from + row * from_stride + column, from_stride,
                                            to + column * to_stride + row, to_stride);
                        }
                    }
                    continue;
                }
            }
            for (std::ptrdiff_t j = left; j < right; ++j) {
                for (std::ptrdiff_t i = top; i < bottom; ++i) {
                    to[j * to_stride + i] = from[i * from_stride + j];
                }
            }
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
