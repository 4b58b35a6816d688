// Reflections (Householder's) of matrices in memory, and what is made of them: triangular factors,
// and vectors at right angles to others.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/target.hpp>
#include <castnet/tensor/detail/buffer.hpp>
#include <castnet/tensor/detail/factorize.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace castnet::detail::inline CASTNET_VECTORS {

// A power of 2 times which some numbers, `step` apart, can be squared and added up: 1 for those of
// usual size. Throws castnet::error if they are not finite, with which no loop for a decomposition
// would end.
template <class T>
T factor_for_squares(T const* numbers, size_t count, size_t step, char const* function) {
    using limits = std::numeric_limits<T>;
    T largest = 0;
    for (size_t i = 0; i < count; ++i) {
        T const size = std::abs(numbers[i * step]);
        largest = size > largest || size != size ? size : largest;
    }
    if (!(largest <= limits::max())) {
        throw error({"castnet: ", function, ": the matrix has a number that is not finite"});
    }
    constexpr T usual = T(1 << 16);
    if (largest == T(0) || (largest <= usual && largest >= 1 / usual)) {
        return T(1);
    }
    constexpr int most = limits::max_exponent - 3;
    return std::ldexp(T(1), std::clamp(-std::ilogb(largest), -most, most));
}

// `to`, which has rows `step` apart, less `factor` v (v^T to). Of v, whose first number is 1, the
// others lie v_step apart.
template <class T>
CASTNET_ALWAYS_INLINE void reflect(T const* v, size_t v_step, T factor, size_t rows, T* to,
                                   size_t step, size_t columns, T* sums) {
    std::copy_n(to, columns, sums);
    for (size_t i = 1; i < rows; ++i) {
        subtract_row(sums, -v[i * v_step], to + i * step, columns);
    }
    subtract_row(to, factor, sums, columns);
    for (size_t i = 1; i < rows; ++i) {
        subtract_row(to + i * step, factor * v[i * v_step], sums, columns);
    }
}

// Makes v of a vector x that the reflection 1 - factor v v^T turns into one of a first number only,
// which is left in x[0]. The factor is 0 if x is so already, but for numbers whose squares are
// lost.
template <class T>
CASTNET_ALWAYS_INLINE T make_reflection(T* x, size_t step, size_t count) {
    T rest = 0;
    for (size_t i = 1; i < count; ++i) {
        rest += x[i * step] * x[i * step];
    }
    constexpr T least = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
    if (rest <= least) {
        return 0;
    }
    T const first = x[0], turned = -std::copysign(std::sqrt(first * first + rest), first);
    T const divisor = 1 / (first - turned);
    for (size_t i = 1; i < count; ++i) {
        x[i * step] *= divisor;
    }
    x[0] = turned;
    return (turned - first) / turned;
}

// The first Columns columns of a (Rows x Width) become upper triangular, by reflections that are
// left below them, with their factors; those to their right are reflected, too.
template <size_t Rows, size_t Width, size_t Columns, class T>
CASTNET_ALWAYS_INLINE void triangularize(T* a, T* factors) {
    buffer<T, Width> sums;
    for (size_t k = 0; k < Columns && k < Rows; ++k) {
        T* const corner = a + k * Width + k;
        factors[k] = make_reflection(corner, Width, Rows - k);
        reflect(corner, Width, factors[k], Rows - k, corner + 1, Width, Width - k - 1, sums.data());
    }
}

// q (Rows x Columns) becomes the product of these reflections, its first columns.
template <size_t Rows, size_t Width, size_t Columns, class T>
CASTNET_ALWAYS_INLINE void multiply_reflections(T const* a, T const* factors, T* q) {
    buffer<T, Columns> sums;
    std::fill_n(q, Rows * Columns, T(0));
    for (size_t k = Columns; k-- > 0;) {
        T* const corner = q + k * Columns + k;
        *corner = 1;
        reflect(a + k * Width + k, Width, factors[k], Rows - k, corner, Columns, Columns - k,
                sums.data());
    }
}

// q r = a (Rows x Columns), of which r has the first numbers
template <size_t Rows, size_t Columns, class T>
void factorize_orthogonal(T* a, T* q, T* r) {
    constexpr size_t few = std::min(Rows, Columns);
    T const scale = factor_for_squares(a, Rows * Columns, 1, "qr");
    for (size_t i = 0; scale != T(1) && i != Rows * Columns; ++i) {
        a[i] *= scale;
    }
    buffer<T, few> factors;
    triangularize<Rows, Columns, few>(a, factors.data());
    multiply_reflections<Rows, Columns, few>(a, factors.data(), q);
    for (size_t i = 0; i != few; ++i) {
        for (size_t j = 0; j != Columns; ++j) {
            r[i * Columns + j] = j < i ? T(0) : a[i * Columns + j] / scale;
        }
    }
}

// x (Columns x Right) becomes the least squares solution of a x = b, for a (Rows x Columns, no
// fewer rows) and b (Rows x Right).
template <size_t Rows, size_t Columns, size_t Right, class T>
void solve_least_squares(T const* a, T const* b, T* x) {
    constexpr size_t width = Columns + Right;
    buffer<T, Rows * width> room; // both beside each other
    buffer<T, Columns> factors, scales;
    T* const both = room.data();
    for (size_t j = 0; j < Columns; ++j) {
        scales.data()[j] = factor_for_squares(a + j, Rows, Columns, "lstsq");
    }
    for (size_t i = 0; i < Rows; ++i) {
        for (size_t j = 0; j < Columns; ++j) {
            both[i * width + j] = scales.data()[j] * a[i * Columns + j];
        }
        std::copy_n(b + i * Right, Right, both + i * width + Columns);
    }
    triangularize<Rows, width, Columns>(both, factors.data());
    for (size_t k = 0; k < Columns; ++k) {
        T square = 0; // of the column's length
        for (size_t i = 0; i <= k; ++i) {
            square += both[i * width + k] * both[i * width + k];
        }
        T const rounding = std::numeric_limits<T>::epsilon() * static_cast<T>(Rows);
        if (!(std::abs(both[k * width + k]) > rounding * std::sqrt(square))) {
            throw error({"castnet: lstsq: the equations have no single solution: column ", k,
                         " of the matrix depends on those before it"});
        }
    }
    for (size_t k = Columns; k-- > 0;) {
        T const* const line = both + k * width;
        T* const row = x + k * Right;
        std::copy_n(line + Columns, Right, row);
        for (size_t i = k + 1; i < Columns; ++i) {
            subtract_row(row, line[i], x + i * Right, Right);
        }
        for (size_t j = 0; j < Right; ++j) {
            row[j] /= line[k];
        }
    }
    for (size_t i = 0; i != Columns * Right; ++i) {
        x[i] *= scales.data()[i / Right];
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
