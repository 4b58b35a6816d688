// Arctangent of a number and of a quotient.
//
// The smaller of the two numbers over the larger one is q <= 1; above tan(pi / 8) it becomes
// (q - 1) / (q + 1), whose arctangent is pi / 4 less. The rest is a polynomial, minimax by Remez'
// algorithm.
#pragma once

#include <castnet/core/polynomial.hpp>
#include <castnet/core/select.hpp>

#include <cmath>

namespace castnet::elementary::inline CASTNET_VECTORS {

// The arctangent of 0 <= q <= 1
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T arctangent_of_share(T q) {
    bool const large = q > T(0.41421356237309505);
    T const t = select(large, (q - T(1)) / (q + T(1)), q), square = t * t;
    T p;
    if constexpr (sizeof(T) == sizeof(float)) {
        p = polynomial(square, -0.060834639F, 0.105960062F, -0.142438495F, 0.199984895F,
                       -0.333333155F);
    } else {
        p = polynomial(square, -0.017922363570946586, 0.038078402793833429, -0.05039848958850901,
                       0.058480097415204065, -0.06663120507378582, 0.076920616490794196,
                       -0.090908978372005332, 0.11111110786167627, -0.14285714280249209,
                       0.19999999999954091, -0.33333333333333199);
    }
    T const y = multiply_add(t * square, p, t);
    return select(large, T(0.78539816339744831) + y, y);
}

// The angle of the point (x, y), from -pi to pi; as the C library's for zeros and infinities.
// Within 3 ulp.
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T atan2(T y, T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        using bits = float_bits<T>;
        // pi in two parts
        constexpr bool single = sizeof(T) == sizeof(float);
        constexpr T high = T(3.14159265358979323846),
                    low = single ? T(-8.74227766e-8) : T(1.2246467991473532e-16);
        T const a = magnitude(x), b = magnitude(y);
        T const least = select(b > a, a, b), most = select(b > a, b, a);
        T const q = select(least == most, select(most > T(0), T(1), most), T(least / most));
        T angle = arctangent_of_share(q);
        angle = select(b > a, high / 2 - (angle - low / 2), angle);
        bool const left = (bits::of(x) & bits::sign) != 0;
        angle = select(left, high - (angle - low), angle);
        return with_sign_of(angle, y);
    }
#endif
    return std::atan2(y, x);
}

// Within 3 ulp
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T atan(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        return atan2(x, T(1));
    }
#endif
    return std::atan(x);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
