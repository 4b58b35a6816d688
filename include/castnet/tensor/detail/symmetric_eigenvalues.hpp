// Eigenvalues and eigenvectors of symmetric matrices in memory: reflections make the matrix
// tridiagonal, rotations (QL steps with implicit shifts) diagonal.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/target.hpp>
#include <castnet/tensor/detail/buffer.hpp>
#include <castnet/tensor/detail/householder.hpp>
#include <castnet/tensor/detail/rotation.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace castnet::detail::inline CASTNET_VECTORS {

// A symmetric matrix (N x N) becomes tridiagonal by reflections, which are left right of it, with
// their factors.
template <size_t N, class T>
CASTNET_ALWAYS_INLINE void tridiagonalize(T* a, T* diagonal, T* beside, T* factors) {
    buffer<T, N> products;
    T* const w = products.data();
    for (size_t k = 0; k + 1 < N; ++k) {
        size_t const count = N - k - 1;
        T* const v = a + k * N + k + 1;
        T* const rest = a + (k + 1) * N + k + 1;
        T const factor = factors[k] = make_reflection(v, 1, count);
        diagonal[k] = a[k * N + k];
        beside[k] = std::exchange(v[0], T(1));
        // the rest becomes (1 - factor v v^T) rest (1 - factor v v^T) = rest - v w^T - w v^T
        std::fill_n(w, count, T(0));
        for (size_t i = 0; i < count; ++i) {
            subtract_row(w, -factor * v[i], rest + i * N, count);
        }
        T shared = 0;
        for (size_t i = 0; i < count; ++i) {
            shared += w[i] * v[i];
        }
        subtract_row(w, factor * shared / 2, v, count);
        for (size_t i = 0; i < count; ++i) {
            T* const row = rest + i * N;
            T const by_v = v[i], by_w = w[i];
            CASTNET_IVDEP
            for (size_t j = 0; j < count; ++j) {
                row[j] -= by_v * w[j] + by_w * v[j];
            }
        }
    }
    diagonal[N - 1] = a[N * N - 1];
    beside[N - 1] = 0;
}

// A step of the QL algorithm for rows `first` to `last` of a tridiagonal matrix.
template <size_t N, class T>
CASTNET_ALWAYS_INLINE void step_to_diagonal(size_t first, size_t last, T* diagonal, T* beside,
                                            T* rows) {
    T const half = (diagonal[first + 1] - diagonal[first]) / (2 * beside[first]);
    T const root = std::sqrt(half * half + 1);
    T g = diagonal[last] - diagonal[first] + beside[first] / (half + std::copysign(root, half));
    T s = 1, c = 1, p = 0;
    for (size_t i = last; i-- > first;) {
        T const f = s * beside[i], b = c * beside[i], r = std::sqrt(f * f + g * g);
        beside[i + 1] = r;
        if (r == T(0)) { // two matrices
            diagonal[i + 1] -= p;
            beside[last] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = diagonal[i + 1] - p;
        T const change = (diagonal[i] - g) * s + 2 * c * b;
        p = s * change;
        diagonal[i + 1] = g + p;
        g = c * change - b;
        rotate_rows(rows + i * N, rows + (i + 1) * N, c, s, N);
    }
    diagonal[first] -= p;
    beside[first] = g;
    beside[last] = 0;
}

// A tridiagonal matrix becomes diagonal; `rows` (N x N) are rotated with it.
template <size_t N, class T>
CASTNET_ALWAYS_INLINE void diagonalize(T* diagonal, T* beside, T* rows) {
    using limits = std::numeric_limits<T>;
    size_t steps_left = 30 * N; // two for each eigenvalue are usual
    for (size_t first = 0; first < N;) {
        size_t last = first;
        while (last + 1 < N) {
            T const size = std::abs(diagonal[last]) + std::abs(diagonal[last + 1]);
            if (std::abs(beside[last]) <= std::max(limits::epsilon() * size, limits::min())) {
                break;
            }
            ++last;
        }
        if (last == first) {
            ++first;
        } else if (steps_left-- > 0) {
            step_to_diagonal<N>(first, last, diagonal, beside, rows);
        } else {
            throw error{"castnet: eigh: the eigenvalues do not converge"};
        }
    }
}

// The eigenvalues of a symmetric matrix (N x N), of which the lower triangle is read, in ascending
// order; its columns become the eigenvectors.
template <size_t N, class T>
void decompose_symmetric(T* a, T* values) {
    for (size_t i = 0; i < N; ++i) {
        for (size_t j = i + 1; j < N; ++j) {
            a[i * N + j] = a[j * N + i];
        }
    }
    T const scale = factor_for_squares(a, N * N, 1, "eigh");
    for (size_t i = 0; scale != T(1) && i != N * N; ++i) {
        a[i] *= scale;
    }
    buffer<T, N> diagonal, beside, factors;
    buffer<T, N * N> room;
    T* const rows = room.data();
    tridiagonalize<N>(a, diagonal.data(), beside.data(), factors.data());
    // the product of the reflections
    std::fill_n(rows, N * N, T(0));
    rows[0] = 1;
    buffer<T, N> sums;
    for (size_t k = N - 1; k-- > 0;) {
        T* const corner = rows + (k + 1) * N + k + 1;
        *corner = 1;
        reflect(a + k * N + k + 1, 1, factors.data()[k], N - k - 1, corner, N, N - k - 1,
                sums.data());
    }
    for (size_t i = 0; i < N; ++i) {
        for (size_t j = i + 1; j < N; ++j) {
            std::swap(rows[i * N + j], rows[j * N + i]);
        }
    }
    diagonalize<N>(diagonal.data(), beside.data(), rows);
    for (size_t j = 0; j < N; ++j) {
        size_t const least = static_cast<size_t>(
            std::min_element(diagonal.data() + j, diagonal.data() + N) - diagonal.data());
        values[j] = diagonal.data()[least] / scale;
        for (size_t i = 0; i < N; ++i) {
            a[i * N + j] = rows[least * N + i];
        }
        if (least != j) { // what has not been taken yet
            diagonal.data()[least] = diagonal.data()[j];
            std::copy_n(rows + j * N, N, rows + least * N);
        }
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
