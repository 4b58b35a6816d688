// Sine and cosine.
//
// The method is Cody & Waite's (Software Manual for the Elementary Functions, 1980): x is n pi + r
// with |r| <= pi / 2, where pi has several parts, so that no bits of r are lost, and sin(r) is a
// polynomial. Coefficients are minimax, by Remez' algorithm.
#pragma once

#include <castnet/core/polynomial.hpp>
#include <castnet/core/select.hpp>

#include <cmath>

namespace castnet::elementary::inline CASTNET_VECTORS {

// Up to here the functions for vectors below take x. (Beyond it, and for infinity and NaN, sin and
// cos are those of the C library, which are exact for any number.)
template <Binary T>
inline constexpr T few_turns = sizeof(T) == sizeof(float) ? T(8192) : T(1 << 21);

// x + minus_n pi, for numbers of few turns
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T without_turns(T x, T minus_n) {
    auto const add = [&](auto... part) __attribute__((always_inline)) {
        (..., (x = multiply_add(minus_n, T(part), x)));
    };
    if constexpr (sizeof(T) == sizeof(float)) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
        add(0x1.921fb4p+1F, 0x1.4442dp-23F, 0x1.846988p-47F);
#else // parts whose products with n have all their bits
        add(0x1.92p+1F, 0x1.fb4p-11F, 0x1.444p-23F, 0x1.68c234p-38F);
#endif
    } else {
        add(0x1.921fb544p+1, 0x1.0b4611a6p-33, 0x1.3198a2ep-68, 0x1.b839a252049c1p-103);
    }
    return x;
}

// sin(r) for |r| <= pi / 2, with its sign changed where the last bit of n is 1
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T sine_of_rest(T r, typename float_bits<T>::type n) {
    using bits = float_bits<T>;
    T const square = r * r;
    T p;
    if constexpr (sizeof(T) == sizeof(float)) {
        p = polynomial(square, 2.60575026e-6F, -0.000198095899F, 0.00833306608F, -0.166666595F);
    } else {
        p = polynomial(square, 2.7211569608226526e-15, -7.6429898160509443e-13,
                       1.6058939643072739e-10, -2.5052106871583482e-8, 2.7557319211124325e-6,
                       -0.00019841269841209146, 0.0083333333333331941, -0.16666666666666666);
    }
    T const y = multiply_add(r * square, p, r);
    return bits::number(bits::of(y) ^ (n << (8 * sizeof(T) - 1)));
}

// sin(x) of few turns
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T sine_of_few_turns(T x) {
    using bits = float_bits<T>;
    // The sum has no bits for a fraction.
    constexpr T shift = T(1.5) * bits::power_of_two(bits::bias + bits::mantissa_size);
    T const a = magnitude(x), sum = multiply_add(a, T(0.31830988618379067), shift);
    T const y = sine_of_rest(without_turns(a, minus_added_integer(shift, sum)), bits::of(sum));
    return bits::number(bits::of(y) ^ (bits::of(x) & bits::sign));
}

// cos(x) of few turns: x is (n + 1/2) pi + r, and cos(x) is -sin(r) for even n.
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T cosine_of_few_turns(T x) {
    using bits = float_bits<T>;
    constexpr T shift = T(1.5) * bits::power_of_two(bits::bias + bits::mantissa_size);
    T const a = magnitude(x), sum = multiply_add(a, T(0.31830988618379067), T(-0.5)) + shift;
    T const minus_n_and_half = minus_added_integer(shift, sum) - T(0.5);
    return sine_of_rest(without_turns(a, minus_n_and_half), ~bits::of(sum));
}

// Within 2.5 ulp
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T sin(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        if (magnitude(x) <= few_turns<T>) {
            return sine_of_few_turns(x);
        }
    }
#endif
    return std::sin(x);
}

// Within 2.5 ulp
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T cos(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        if (magnitude(x) <= few_turns<T>) {
            return cosine_of_few_turns(x);
        }
    }
#endif
    return std::cos(x);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
