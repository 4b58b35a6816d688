// One product of two matrices in memory, on one thread: small ones in registers with constant
// sizes, large ones panel by panel as those of dense layers.
#pragma once

#include <castnet/core/shape.hpp>
#include <castnet/cpu/panel.hpp>
#include <castnet/tensor/detail/lanes.hpp>
#include <castnet/tensor/detail/row_vectors.hpp>

#include <algorithm>
#include <cstring>

namespace castnet::detail::inline CASTNET_VECTORS {

// Rows of c (N columns, contiguous) = those of a (element (i, k) at i * a_row + k * a_step) times
// b; the last ones of c if they are `last`.
template <size_t Rows, size_t K, size_t N, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
multiply_rows(T const* a, size_t a_row, size_t a_step, T const* b, T* c, bool last) {
    row_vectors<N, T> sum[Rows];
    auto const add = [&](size_t k, bool whole) __attribute__((always_inline)) {
        row_vectors<N, T> right;
        right.load(b + k * N, whole);
        CASTNET_UNROLL
        for (size_t i = 0; i < Rows; ++i) {
            T const left = a[i * a_row + k * a_step];
            CASTNET_UNROLL
            for (size_t j = 0; j < right.count; ++j) {
                sum[i].at[j] += left * right.at[j];
            }
        }
    };
    for (size_t k = 0; k + 1 < K; ++k) {
        add(k, true);
    }
    add(K - 1, false);
    CASTNET_UNROLL
    for (size_t i = 0; i < Rows; ++i) {
        sum[i].store(c + i * N, !last || i + 1 < Rows);
    }
}

// Whether registers hold whole rows of the product, for several rows at once.
template <size_t N, class T>
inline constexpr bool fits_registers = N <= static_cast<size_t>(cpu::tile_columns<T>);

template <size_t M, size_t K, size_t N, class T>
CASTNET_WIDE_VECTORS void multiply_small(T const* a, size_t a_row, size_t a_step, T const* b,
                                         T* c) {
    constexpr size_t most = size_t{cpu::tile_rows} * cpu::tile_vectors / row_vectors<N, T>::count;
    constexpr size_t rows = std::min({M, size_t{8}, most}), whole = (M - 1) / rows * rows;
    for (size_t i = 0; i != whole; i += rows) {
        multiply_rows<rows, K, N>(a + i * a_row, a_row, a_step, b, c + i * N, false);
    }
    multiply_rows<M - whole, K, N>(a + whole * a_row, a_row, a_step, b, c + whole * N, true);
}

template <InVectors T>
void multiply_large(cpu::product<T> const& p) {
    constexpr std::ptrdiff_t width = cpu::tile_columns<T>,
                             piece = std::ptrdiff_t{24} * cpu::tile_rows;
    std::ptrdiff_t const steps =
        std::min({p.k, cpu::most_steps_at_once, cpu::panel_scratch<T>::size / width});
    if (cpu::has_narrow_panels && p.a.column != 1 && p.m > cpu::tile_rows) {
        for (std::ptrdiff_t top = 0; top < p.m; top += cpu::most_packed_rows<T>) {
            cpu::multiply_panels<T>(p, 0, p.n, top, std::min(top + cpu::most_packed_rows<T>, p.m),
                                    steps, true);
        }
        return;
    }
    for (std::ptrdiff_t left = 0; left < p.n; left += width) {
        // A panel is read beyond its columns unless it is packed.
        bool const packs = p.b.column != 1 || left + width > p.n || p.m > cpu::tile_rows;
        for (std::ptrdiff_t top = 0; top < p.m; top += piece) {
            cpu::multiply_panels<T>(p, left, std::min(left + width, p.n), top,
                                    std::min(top + piece, p.m), steps, packs);
        }
    }
}

// The sum of the products of a row and a vector for each of Rows rows.
template <size_t Rows, InVectors T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
multiply_columns(size_t count, T const* a, size_t a_row, T const* x, T* y) {
    constexpr size_t width = static_cast<size_t>(cpu::simd<T>::width);
    using vector = cpu::vec<T>;
    vector sum[2][Rows] = {};
    auto const add = [&](size_t k, size_t part) __attribute__((always_inline)) {
        vector const right = *reinterpret_cast<vector const*>(x + k);
        CASTNET_UNROLL
        for (size_t i = 0; i < Rows; ++i) {
            sum[part][i] += *reinterpret_cast<vector const*>(a + i * a_row + k) * right;
        }
    };
    size_t const whole = count - count % width, even = whole - whole % (2 * width);
    for (size_t k = 0; k != even; k += 2 * width) {
        add(k, 0);
        add(k + width, 1);
    }
    if (even != whole) {
        add(even, 0);
    }
    T rest[Rows] = {};
    for (size_t k = whole; k < count; ++k) {
        CASTNET_UNROLL
        for (size_t i = 0; i < Rows; ++i) {
            rest[i] += a[i * a_row + k] * x[k];
        }
    }
    if constexpr (Rows == 4) {
        constexpr size_t few = std::min(width, Rows);
        typename lanes<T, few>::type both[Rows];
        CASTNET_UNROLL
        for (size_t i = 0; i < Rows; ++i) {
            typename lanes<T, width>::type const all = sum[0][i] + sum[1][i];
            both[i] = join_to<T, few>(all, plus);
        }
        CASTNET_UNROLL
        for (size_t i = 0; i < Rows; i += few) {
            auto const joined = join_each<T, few>(both + i, plus);
            std::memcpy(y + i, &joined, sizeof joined);
        }
    } else {
        CASTNET_UNROLL
        for (size_t i = 0; i < Rows; ++i) {
            typename lanes<T, width>::type const both = sum[0][i] + sum[1][i];
            y[i] = join_lanes<T, width>(both, plus);
        }
    }
    if (whole != count) {
        CASTNET_UNROLL
        for (size_t i = 0; i < Rows; ++i) {
            y[i] += rest[i];
        }
    }
}

// y = a (rows x count, contiguous rows a_row apart) times the vector x
template <InVectors T>
void multiply_vector(size_t rows, size_t count, T const* a, size_t a_row, T const* x, T* y) {
    size_t const whole = rows - rows % 4;
    for (size_t i = 0; i != whole; i += 4) {
        multiply_columns<4>(count, a + i * a_row, a_row, x, y + i);
    }
    for (size_t i = whole; i < rows; ++i) {
        multiply_columns<1>(count, a + i * a_row, a_row, x, y + i);
    }
}

// y = a (rows of four numbers, a_row apart) times the vector x.
template <size_t Rows, class T>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void multiply_fours(T const* a, size_t a_row, T const* x,
                                                               T* y) {
    using stored = typename lanes<T, 4>::stored;
    typename lanes<T, 4>::type const right = *reinterpret_cast<stored const*>(x);
    typename lanes<T, 4>::type product[4];
    CASTNET_UNROLL
    for (size_t i = 0; i < 4; ++i) {
        product[i] = *reinterpret_cast<stored const*>(a + std::min(i, Rows - 1) * a_row) * right;
    }
    auto const sums = join_each<T, 4>(product, plus);
    CASTNET_UNROLL
    for (size_t i = 0; i < Rows; ++i) {
        y[i] = sums[i];
    }
}

// Column K of a, each element four times, times row K of b, four times: rows of four numbers.
template <int K, class Vector>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void add_column(Vector& sum, Vector const& a,
                                                                   Vector const& b) {
    sum += __builtin_shufflevector(a, a, K, K, K, K, K + 4, K + 4, K + 4, K + 4, K + 8, K + 8,
                                   K + 8, K + 8, K + 12, K + 12, K + 12, K + 12) *
           __builtin_shufflevector(b, b, 4 * K, 4 * K + 1, 4 * K + 2, 4 * K + 3, 4 * K, 4 * K + 1,
                                   4 * K + 2, 4 * K + 3, 4 * K, 4 * K + 1, 4 * K + 2, 4 * K + 3,
                                   4 * K, 4 * K + 1, 4 * K + 2, 4 * K + 3);
}

// The product of two matrices of 4 x 4 floats, each in one vector.
CASTNET_WIDE_VECTORS inline void multiply_4x4(float const* a, float const* b, float* c) {
    using stored = lanes<float, 16>::stored;
    lanes<float, 16>::type const left = *reinterpret_cast<stored const*>(a);
    lanes<float, 16>::type const right = *reinterpret_cast<stored const*>(b);
    lanes<float, 16>::type sum = {};
    add_column<0>(sum, left, right);
    add_column<1>(sum, left, right);
    add_column<2>(sum, left, right);
    add_column<3>(sum, left, right);
    *reinterpret_cast<stored*>(c) = sum;
}

// The distances between rows and between columns of a matrix in memory.
template <size_t Row, size_t Column>
struct matrix_strides {};

// Whether b (N columns) must lie row after row to be multiplied with.
template <size_t M, size_t N, class T>
inline constexpr bool needs_rows = !InVectors<T> || N == 1 || (M > 1 && fits_registers<N, T>);

// c (M x N, contiguous) = a (M x K) times b (K x N), all of few numbers, without loops.
template <size_t M, size_t K, size_t N, size_t A, size_t AStep, size_t B, size_t BStep, class T>
CASTNET_ALWAYS_INLINE void multiply_few(T const* a, T const* b, T* c) {
    T sums[M * N];
    CASTNET_UNROLL
    for (size_t i = 0; i < M; ++i) {
        CASTNET_UNROLL
        for (size_t j = 0; j < N; ++j) {
            T sum = a[i * A] * b[j * BStep];
            CASTNET_UNROLL
            for (size_t k = 1; k < K; ++k) {
                sum += a[i * A + k * AStep] * b[k * B + j * BStep];
            }
            sums[i * N + j] = sum;
        }
    }
    CASTNET_UNROLL
    for (size_t i = 0; i < M * N; ++i) { // (which stay in registers)
        c[i] = sums[i];
    }
}

// c (M x N, contiguous) = a (M x K) times b (K x N).
template <size_t M, size_t K, size_t N, class T, size_t A, size_t AStep, size_t B, size_t BStep>
void multiply(T const* a, matrix_strides<A, AStep>, T const* b, matrix_strides<B, BStep>, T* c) {
    constexpr bool has_vector = N == 1 || (M == 1 && B == 1);
    if constexpr (!InVectors<T>) {
        for (size_t i = 0; i < M; ++i) {
            std::fill_n(c + i * N, N, T(0));
            for (size_t k = 0; k < K; ++k) {
                T const left = a[i * A + k * AStep];
                for (size_t j = 0; j < N; ++j) {
                    c[i * N + j] += left * b[k * N + j];
                }
            }
        }
    } else if constexpr (N == 1 && M > 1 && M <= 4 && K == 4 && AStep == 1 &&
                         sizeof(T) * 4 <= cpu::vector_bytes) {
        multiply_fours<M>(a, A, b, c);
    } else if constexpr (M * N <= 16 && (has_vector ? K <= 4 : K <= 16 && N % 4 != 0)) {
        multiply_few<M, K, N, A, AStep, B, BStep>(a, b, c);
    } else if constexpr (N == 1 && (AStep == 1 || K == 1)) {
        multiply_vector<T>(M, K, a, A, b, c);
    } else if constexpr (N == 1 && M > 1) { // turned, a row times a matrix
        multiply<1, K, M>(b, matrix_strides<K, 1>{}, a, matrix_strides<AStep, A>{}, c);
    } else if constexpr (M == 1 && AStep == 1 && B == 1 && N > 1) { // a row times rows
        multiply_vector<T>(N, K, b, BStep, a, c);
    } else if constexpr (std::is_same_v<T, float> && cpu::simd<T>::width == 16 && M == 4 &&
                         K == 4 && N == 4 && A == 4 && AStep == 1) {
        multiply_4x4(a, b, c);
    } else if constexpr (fits_registers<N, T> && B == N && BStep == 1) {
        multiply_small<M, K, N>(a, A, AStep, b, c);
    } else {
        multiply_large<T>({M, N, K, {a, A, AStep}, {b, B, BStep}, c, N});
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
