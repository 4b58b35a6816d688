// c += a * b for matrices in memory: a few rows of a times a panel of b that stays in the cache, in
// loops along the rows of b that every compiler vectorises.
#pragma once

#include <castnet/core/shape.hpp>

namespace castnet::detail {

// Rows x Columns of c, for `depth` steps along the inner axis. Sums are kept in a local array,
// which cannot overlap with b.
template <size_t Rows, size_t Columns, class T, class A>
void multiply_strip(size_t depth, A const* a, size_t a_row, size_t a_step, T const* b, size_t b_row,
                    T* c, size_t c_row) {
    T sum[Rows][Columns] = {};
    size_t k = 0;
    for (; k + 4 <= depth; k += 4) {
        T const* const b0 = b + k * b_row;
        T const* const b1 = b0 + b_row;
        T const* const b2 = b1 + b_row;
        T const* const b3 = b2 + b_row;
        for (size_t i = 0; i < Rows; ++i) {
            A const* const at = a + i * a_row + k * a_step;
            T const a0 = static_cast<T>(at[0]), a1 = static_cast<T>(at[a_step]),
                    a2 = static_cast<T>(at[2 * a_step]), a3 = static_cast<T>(at[3 * a_step]);
            for (size_t j = 0; j < Columns; ++j) {
                sum[i][j] += a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
            }
        }
    }
    for (; k < depth; ++k) {
        for (size_t i = 0; i < Rows; ++i) {
            T const factor = static_cast<T>(a[i * a_row + k * a_step]);
            for (size_t j = 0; j < Columns; ++j) {
                sum[i][j] += factor * b[k * b_row + j];
            }
        }
    }
    for (size_t i = 0; i < Rows; ++i) {
        for (size_t j = 0; j < Columns; ++j) {
            c[i * c_row + j] += sum[i][j];
        }
    }
}

// Columns of c, from column `j` on.
template <size_t Columns, size_t M, size_t K, size_t N, class T, class A>
void multiply_columns(size_t j, A const* a, size_t a_row, size_t a_step, T const* b, T* c) {
    constexpr size_t rows = M < 4 ? M : 4;
    constexpr size_t panel = 64; // rows of b that stay in the cache together
    for (size_t k = 0; k < K; k += panel) {
        size_t const depth = K - k < panel ? K - k : panel;
        for (size_t i = 0; i + rows <= M; i += rows) {
            multiply_strip<rows, Columns>(depth, a + i * a_row + k * a_step, a_row, a_step,
                                          b + k * N + j, N, c + i * N + j, N);
        }
        if constexpr (M % rows != 0) {
            constexpr size_t i = M - M % rows;
            multiply_strip<M % rows, Columns>(depth, a + i * a_row + k * a_step, a_row, a_step,
                                              b + k * N + j, N, c + i * N + j, N);
        }
    }
}

// a is M x K at any strides; b (K x N) and c (M x N) have contiguous rows.
template <size_t M, size_t K, size_t N, class T, class A>
void multiply_add_matrix(A const* a, size_t a_row, size_t a_step, T const* b, T* c) {
    constexpr size_t columns = N < 128 ? N : 128;
    for (size_t j = 0; j + columns <= N; j += columns) {
        multiply_columns<columns, M, K, N>(j, a, a_row, a_step, b, c);
    }
    if constexpr (N % columns != 0) {
        multiply_columns<N % columns, M, K, N>(N - N % columns, a, a_row, a_step, b, c);
    }
}

} // namespace castnet::detail
