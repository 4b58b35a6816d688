// c += a * b for matrices in memory, blocked for registers and cache.
#pragma once

#include <castnet/core/shape.hpp>

namespace castnet::detail {

// The block of c at (row, column), Rows x Columns, for `depth` steps along the inner axis.
template <size_t Rows, size_t Columns, class T, class A>
void multiply_block(size_t depth, A const* a, size_t a_row, size_t a_step, T const* b, size_t b_row,
                    T* c, size_t c_row) {
    T sum[Rows][Columns] = {};
    for (size_t k = 0; k < depth; ++k) {
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

// a is M x K at any strides; b (K x N) and c (M x N) have contiguous rows.
template <size_t M, size_t K, size_t N, class T, class A>
void multiply_add_matrix(A const* a, size_t a_row, size_t a_step, T const* b, T* c) {
    constexpr size_t rows = M < 4 ? M : 4;
    constexpr size_t wide = 64 / sizeof(T) < 4 ? 4 : 64 / sizeof(T);
    constexpr size_t columns = N < wide ? N : wide;
    constexpr size_t panel = K < 256 ? K : 256; // rows of b that stay in the cache together
    for (size_t k = 0; k < K; k += panel) {
        size_t const depth = K - k < panel ? K - k : panel;
        auto const block = [&]<size_t R, size_t C>(size_t i, size_t j) {
            multiply_block<R, C>(depth, a + i * a_row + k * a_step, a_row, a_step, b + k * N + j, N,
                                 c + i * N + j, N);
        };
        auto const strip = [&]<size_t C>(size_t j) {
            for (size_t i = 0; i + rows <= M; i += rows) {
                block.template operator()<rows, C>(i, j);
            }
            if constexpr (M % rows != 0) {
                block.template operator()<M % rows, C>(M - M % rows, j);
            }
        };
        for (size_t j = 0; j + columns <= N; j += columns) {
            strip.template operator()<columns>(j);
        }
        if constexpr (N % columns != 0) {
            strip.template operator()<N % columns>(N - N % columns);
        }
    }
}

} // namespace castnet::detail
