// Small systems of equations and Cholesky factors side by side: each vector lane has a matrix of
// its own.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/tensor/detail/lanes.hpp>
#include <castnet/tensor/detail/run.hpp>
#include <castnet/tensor/detail/transpose.hpp>

namespace castnet::detail::inline CASTNET_VECTORS {

// Whether matrices with so many numbers, which lie in a vector each, are computed side by side:
// those of which vectors stay near the registers.
template <class T, size_t Numbers>
inline constexpr bool fits_side_by_side =
    InVectors<T> && Numbers > 1 && Numbers <= 128 && cpu::simd<T>::width > 1;

// Numbers of as many matrices as vectors have lanes, number i of all in vector i.
template <class T, size_t Numbers>
struct side_by_side {
    static constexpr size_t lanes = static_cast<size_t>(cpu::simd<T>::width);
    using vector = typename detail::lanes<T, lanes>::type;

    vector of[Numbers];

    CASTNET_ALWAYS_INLINE void load(T const* matrices) {
        transpose_fixed<Numbers, lanes>(matrices, Numbers, numbers(), lanes);
    }
    CASTNET_ALWAYS_INLINE void store(T* matrices) const {
        transpose_fixed<lanes, Numbers>(numbers(), lanes, matrices, Numbers);
    }

private:
    T* numbers() { return reinterpret_cast<T*>(of); }
    T const* numbers() const { return reinterpret_cast<T const*>(of); }
};

template <class Vector, class Mask>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void exchange_where(Mask const& exchanged, Vector& a,
                                                               Vector& b) {
    Vector const first = a, second = b;
    a = exchanged ? second : first;
    b = exchanged ? first : second;
}

// b (N x Columns) becomes x with a x = b, by elimination with pivots as in solve_in_place; of one
// system, or in each lane of vectors. Whether the matrix is not singular; else numbers that mean
// nothing.
template <size_t N, size_t Columns, class V>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE auto solve_in_registers(V* a, V* b) {
    auto solvable = V{} == V{};
    CASTNET_UNROLL
    for (size_t k = 0; k < N; ++k) {
        V* const line = a + k * N;
        CASTNET_UNROLL
        for (size_t i = k + 1; i < N; ++i) { // the largest number of the column comes to row k
            V* const row = a + i * N;
            auto const exchanged = magnitude(row[k]) > magnitude(line[k]);
            CASTNET_UNROLL
            for (size_t j = k; j < N; ++j) {
                exchange_where(exchanged, line[j], row[j]);
            }
            for (size_t j = 0; j < Columns; ++j) {
                exchange_where(exchanged, b[k * Columns + j], b[i * Columns + j]);
            }
        }
        solvable &= magnitude(line[k]) > V{};
        CASTNET_UNROLL
        for (size_t i = k + 1; i < N; ++i) {
            V* const row = a + i * N;
            V const factor = row[k] / line[k];
            CASTNET_UNROLL
            for (size_t j = k + 1; j < N; ++j) {
                row[j] -= factor * line[j];
            }
            for (size_t j = 0; j < Columns; ++j) {
                b[i * Columns + j] -= factor * b[k * Columns + j];
            }
        }
    }
    CASTNET_UNROLL
    for (size_t row = 1; row <= N; ++row) {
        size_t const k = N - row;
        for (size_t j = 0; j < Columns; ++j) {
            b[k * Columns + j] /= a[k * N + k];
        }
        CASTNET_UNROLL
        for (size_t i = 0; i < k; ++i) {
            for (size_t j = 0; j < Columns; ++j) {
                b[i * Columns + j] -= a[i * N + k] * b[k * Columns + j];
            }
        }
    }
    return solvable;
}

template <size_t N, size_t Columns, class T>
CASTNET_WIDE_VECTORS bool solve_side_by_side(side_by_side<T, N * N>& left,
                                             side_by_side<T, N * Columns>& right) {
    return !any_lane(~solve_in_registers<N, Columns>(left.of, right.of));
}

// The lower triangles of the matrices, of which only those are read, become those of their Cholesky
// factors, as in factorize_definite. Whether all are positive definite; else numbers that mean
// nothing.
template <size_t N, class T>
CASTNET_WIDE_VECTORS bool factorize_side_by_side(side_by_side<T, N * N>& matrices) {
    using vector = typename side_by_side<T, N * N>::vector;
    auto* const a = matrices.of;
    auto definite = vector{} == vector{};
    CASTNET_UNROLL
    for (size_t j = 0; j < N; ++j) {
        vector const* const line = a + j * N;
        for (size_t i = j; i < N; ++i) {
            vector rest = a[i * N + j];
            for (size_t k = 0; k < j; ++k) {
                rest -= a[i * N + k] * line[k];
            }
            if (i > j) {
                a[i * N + j] = rest / line[j];
            } else {
                definite &= rest > vector{};
                a[i * N + j] = square_root(rest);
            }
        }
    }
    return !any_lane(~definite);
}

} // namespace castnet::detail::inline CASTNET_VECTORS
