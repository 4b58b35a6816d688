// Singular values and vectors of matrices in memory, by one-sided Jacobi rotations of the rows of a
// triangular factor.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/target.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/tensor/detail/buffer.hpp>
#include <castnet/tensor/detail/householder.hpp>
#include <castnet/tensor/detail/lanes.hpp>
#include <castnet/tensor/detail/rotation.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace castnet::detail::inline CASTNET_VECTORS {

// The sum of the products of two rows' numbers.
template <size_t Count, class T>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE T product_of_rows(T const* a, T const* b) {
    T total = 0;
    size_t done = 0;
    if constexpr (InVectors<T>) {
        constexpr size_t width = static_cast<size_t>(cpu::simd<T>::width);
        if constexpr (Count >= 2 * width) {
            using vector = cpu::vec<T>;
            typename lanes<T, width>::type even{}, odd{};
            for (; done + 2 * width <= Count; done += 2 * width) {
                auto const* const left = reinterpret_cast<vector const*>(a + done);
                auto const* const right = reinterpret_cast<vector const*>(b + done);
                even += left[0] * right[0];
                odd += left[1] * right[1];
            }
            total = join_lanes<T, width>(even + odd, plus);
        }
    }
    for (; done < Count; ++done) {
        total += a[done] * b[done];
    }
    return total;
}

// Rotates pairs of rows of a (N x N), and those of b with them, until all of a are at right angles
// to each other, in descending order of their lengths, whose squares are found. Rows that are
// shorter than rounding makes of the longest are left as they are.
template <size_t N, class T>
CASTNET_ALWAYS_INLINE void make_rows_orthogonal(T* a, T* b, T* squares) {
    T const rounding = std::numeric_limits<T>::epsilon();
    T const right = rounding * std::sqrt(static_cast<T>(N));
    bool rotated = true;
    for (int sweep = 0; rotated; ++sweep) {
        if (sweep == 60) { // less than ten are usual
            throw error{"castnet: svd: the singular values do not converge"};
        }
        rotated = false;
        for (size_t i = 0; i < N; ++i) {
            squares[i] = product_of_rows<N>(a + i * N, a + i * N);
        }
        T const least = rounding * rounding * *std::max_element(squares, squares + N);
        for (size_t i = 0; i + 1 < N; ++i) {
            for (size_t j = i + 1; j < N; ++j) {
                T *const first = a + i * N, *const second = a + j * N;
                if (squares[i] < squares[j]) {
                    std::swap(squares[i], squares[j]);
                    std::swap_ranges(first, first + N, second);
                    std::swap_ranges(b + i * N, b + (i + 1) * N, b + j * N);
                }
                if (squares[j] <= least) {
                    continue;
                }
                T const shared = product_of_rows<N>(first, second);
                if (std::abs(shared) <= right * std::sqrt(squares[i] * squares[j])) {
                    continue;
                }
                rotated = true;
                T const half = (squares[j] - squares[i]) / (2 * shared);
                T const t = 1 / (half + std::copysign(std::sqrt(half * half + 1), half));
                T const c = 1 / std::sqrt(t * t + 1);
                squares[i] -= t * shared;
                squares[j] += t * shared;
                rotate_rows(first, second, c, c * t, N);
                rotate_rows(b + i * N, b + j * N, c, c * t, N);
            }
        }
    }
}

// Rows of x (N x N) from number `known` on become unit vectors at right angles to those before
// them.
template <size_t N, class T>
[[gnu::noinline]] void complete_rows(T* x, size_t known) {
    buffer<T, N> factors;
    buffer<T, N * N> columns, completed;
    for (size_t i = 0; i != N * N; ++i) {
        columns.data()[i] = i % N < known ? x[i % N * N + i / N] : T(0);
    }
    triangularize<N, N, N>(columns.data(), factors.data());
    multiply_reflections<N, N, N>(columns.data(), factors.data(), completed.data());
    for (size_t i = known * N; i != N * N; ++i) {
        x[i] = completed.data()[i % N * N + i / N];
    }
}

// Of a (Rows x Columns, no fewer rows), which it changes: u (Rows x Columns), singular values in
// descending order and the rows of v^T (Columns x Columns).
template <size_t Rows, size_t Columns, class T>
void decompose_tall(T* a, T* u, T* values, T* vt) {
    constexpr size_t n = Columns;
    T const scale = factor_for_squares(a, Rows * n, 1, "svd");
    for (size_t i = 0; scale != T(1) && i != Rows * n; ++i) {
        a[i] *= scale;
    }
    buffer<T, n> factors, squares;
    buffer<T, n * n> room;
    T* const turns = room.data();
    triangularize<Rows, n, n>(a, factors.data());
    for (size_t i = 0; i < n; ++i) {
        std::fill_n(vt + i * n, i, T(0));
        std::copy(a + i * n + i, a + (i + 1) * n, vt + i * n + i);
        std::fill_n(turns + i * n, n, T(0));
        turns[i * n + i] = 1;
    }
    make_rows_orthogonal<n>(vt, turns, squares.data());
    size_t rank = 0;
    T least = 0;
    for (size_t i = 0; i < n; ++i) {
        T* const row = vt + i * n;
        T const size = std::sqrt(product_of_rows<n>(row, row));
        values[i] = size / scale;
        least = i == 0 ? size * std::numeric_limits<T>::epsilon() : least;
        if (size > least) {
            ++rank;
            for (size_t j = 0; j < n; ++j) {
                row[j] /= size;
            }
        }
    }
    if (rank < n) {
        complete_rows<n>(vt, rank);
    }
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j) {
            u[i * n + j] = turns[j * n + i];
        }
    }
    std::fill(u + n * n, u + Rows * n, T(0));
    buffer<T, n> sums;
    for (size_t k = n; k-- > 0;) {
        reflect(a + k * n + k, n, factors.data()[k], Rows - k, u + k * n, n, n, sums.data());
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
