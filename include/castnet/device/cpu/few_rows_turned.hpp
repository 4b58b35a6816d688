// Sums of products of few rows with a right factor that lies turned, such as the gradient of a
// dense layer by the input of a few samples: blocks of the factor are transposed in registers, on
// the way to their only use.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/panel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace castnet::cpu::inline CASTNET_TARGET {

// The most rows for which this is faster than packed panels.
inline constexpr std::ptrdiff_t most_few_rows_turned = 2;

// One or two rows of a times two vectors' columns of b, or `columns` of them, which are contiguous.
// (A sum for each row and vector hides the latency of adding; more would not fit in the registers,
// beside a block.)
template <int Rows, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
sum_turned_block(std::ptrdiff_t columns, std::ptrdiff_t depth, matrix<T> const& a,
                 matrix<T> const& b, T* sums, std::ptrdiff_t sums_row) {
    constexpr std::ptrdiff_t width = simd<T>::width;
    std::ptrdiff_t const step = a.column;
    T const* column[2][size_t(width)]; // beyond the last one: that again
    for (std::ptrdiff_t j = 0; j < 2 * width; ++j) {
        column[j / width][j % width] = b.data + std::min(j, columns - 1) * b.column;
    }
    vec<T> sum[size_t(Rows)][2] = {};
    std::ptrdiff_t k = 0;
    auto const add = [&](int group, vec<T> const& right,
                         std::ptrdiff_t at) __attribute__((always_inline)) {
        CASTNET_UNROLL
        for (int i = 0; i < Rows; ++i) {
            sum[i][group] = multiply_add(a.data[i * a.row + at * step], right, sum[i][group]);
        }
    };
    for (; k + width <= depth; k += width) {
        CASTNET_UNROLL
        for (int group = 0; group < 2; ++group) {
            vec<T> block[size_t(width)];
            CASTNET_UNROLL
            for (int j = 0; j < width; ++j) {
                block[j] = *reinterpret_cast<vec<T> const*>(column[group][j] + k);
            }
            turn_lanes<1, T>(block);
            CASTNET_UNROLL
            for (std::ptrdiff_t s = 0; s < width; ++s) {
                add(group, block[s], k + s);
            }
        }
    }
    for (; k < depth; ++k) { // nothing need follow the last column
        for (int group = 0; group < 2; ++group) {
            vec<T> right;
            for (int j = 0; j < width; ++j) {
                right[j] = column[group][j][k];
            }
            add(group, right, k);
        }
    }
    T whole[size_t(2 * width)];
    for (int i = 0; i < Rows; ++i) {
        *reinterpret_cast<vec<T>*>(whole) = sum[i][0];
        *reinterpret_cast<vec<T>*>(whole + width) = sum[i][1];
        std::memcpy(sums + i * sums_row, whole, size_t(columns) * sizeof(T));
    }
}

// sums (rows x columns, rows `sums_row` apart) = a (rows x depth) * b (depth x columns).
template <class T>
void sum_turned(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t depth,
                matrix<T> const& a, matrix<T> const& b, T* sums, std::ptrdiff_t sums_row) {
    constexpr std::ptrdiff_t at_once = std::ptrdiff_t{2} * simd<T>::width;
    auto* const sum = rows > 1 ? &sum_turned_block<2, T> : &sum_turned_block<1, T>;
    for (std::ptrdiff_t j = 0; j < columns; j += at_once) {
        sum(std::min(at_once, columns - j), depth, a, {b.data + j * b.column, b.row, b.column},
            sums + j, sums_row);
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
