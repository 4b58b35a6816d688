// Exponential function, powers of 2, exp(x) - 1, the hyperbolic tangent and the logistic function.
//
// The method is Cody & Waite's (Software Manual for the Elementary Functions, 1980): x is n ln 2 +
// r with |r| <= ln 2 / 2, where ln 2 has two parts, so that r is exact, and exp(r) is a polynomial.
// Coefficients are minimax, by Remez' algorithm.
#pragma once

#include <castnet/core/polynomial.hpp>
#include <castnet/core/select.hpp>

#include <cmath>

namespace castnet::elementary::inline CASTNET_VECTORS {

// p in exp(r) = 1 + r + square p, where square is that of r and |r| <= ln 2 / 2
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T exp_polynomial(T r, T square) {
    if constexpr (sizeof(T) == sizeof(float)) {
        // in two halves, of which neither waits for the other (Estrin's scheme)
        return multiply_add(
            square, polynomial(square, 0.00139505859F, polynomial(r, 0.00836894661F, 0.041666206F)),
            polynomial(r, 0.166665182F, 0.5F));
    } else {
        return polynomial(r, 2.5118067929483206e-08, 2.7631366385425598e-07, 2.7557215617068006e-06,
                          2.4801489742433553e-05, 0.00019841269918186868, 0.0013888888947160307,
                          0.008333333333306818, 0.041666666666515105, 0.16666666666666699,
                          0.50000000000000122);
    }
}

// x = n ln 2 + r + low, and exp(r) = 1 + r + square p
template <Binary T>
struct reduced_exponent {
    T r, low, square, p;
    typename float_bits<T>::type n; // plus what was asked for, for power_of_two

    CASTNET_HD constexpr T r_and_tail() const { return multiply_add(square, p, r); }
};

// Of Factor * x. With few units of n (about 50), ln 2 needs no second part.
template <auto Plus, bool Few = false, int Factor = 1, Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr reduced_exponent<T> reduce_exponent(T x) {
    using bits = float_bits<T>;
    // The sum has no bits for a fraction.
    constexpr T shift = T(1.5) * bits::power_of_two(bits::bias + bits::mantissa_size) + T(Plus);
    T const sum = multiply_add(x, T(Factor * 1.4426950408889634), shift);
    auto const n = bits::of(sum);
    T const minus_n = minus_added_integer(shift, sum);
    T const high = multiply_add(minus_n, Few ? T(0.69314718055994531) : ln2_high<T>, T(Factor) * x);
    T const r = Few ? high : multiply_add(minus_n, ln2_low<T>, high);
    T const low = multiply_add(minus_n, ln2_low<T>, high - r);
    T const square = r * r;
    return {r, low, square, exp_polynomial(r, square), n};
}

// exp(x) = 2^n (1 + tail); subnormal results, too. n is greater by twice the bias. Here and below,
// limits of the argument are applied to the result, which need not wait for them then.
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T scaled_exp(T x, typename float_bits<T>::type n,
                                                        T tail) {
    using bits = float_bits<T>;
    // Beyond it 0 or infinity; up to it, both factors below are normal numbers.
    constexpr T limit = sizeof(T) == sizeof(float) ? T(104) : T(746);
    // 2 to the power of n, in two factors: one would overflow or be subnormal
    auto const half = n >> 1;
    T const scale = bits::power_of_two(half), rest = bits::power_of_two(n - half);
    T const y = multiply_add(scale, tail, scale) * rest;
    return select(magnitude(x) > limit, unless_negative(std::numeric_limits<T>::infinity(), x), y);
}

// Within 1.5 ulp
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T exp(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        auto const e = reduce_exponent<2 * float_bits<T>::bias>(x);
        return scaled_exp(x, e.n, e.r_and_tail());
    }
#endif
    return std::exp(x);
}

// 2 to the power of x, within 1.5 ulp; exact for whole x
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T exp2(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        using bits = float_bits<T>;
        constexpr T shift = T(1.5) * bits::power_of_two(bits::bias + bits::mantissa_size) +
                            T(2 * bits::bias); // as in reduce_exponent
        constexpr T ln2 = T(0.69314718055994531);
        T const sum = x + shift;
        T const r = (x + minus_added_integer(shift, sum)) * ln2, square = r * r;
        return scaled_exp(x * ln2, bits::of(sum),
                          multiply_add(square, exp_polynomial(r, square), r));
    }
#endif
    return std::exp2(x);
}

// (exp(x) - 1) / 2^Halvings, where exp(x) / 2^Halvings is a normal number.
template <int Halvings, Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T part_of_expm1(T x) {
    using bits = float_bits<T>;
    auto const e = reduce_exponent<bits::bias - Halvings>(x);
    T const scale = bits::power_of_two(e.n), tail = multiply_add(e.square, e.p, e.low);
    constexpr T one = bits::power_of_two(bits::bias - Halvings);
    return multiply_add(scale, tail, multiply_add(scale, e.r, scale - one));
}

// Within 2 ulp
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T expm1(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        // from here on -1 or infinity
        constexpr T lowest = -64;
        constexpr T highest = sizeof(T) == sizeof(float) ? T(89) : T(710);
        T const limited = select(x < lowest, lowest, select(x > highest, highest, x));
        T const half = part_of_expm1<1>(limited); // of what might overflow
        return select(magnitude(x) < std::numeric_limits<T>::epsilon() / 2, x, half + half);
    }
#endif
    return std::expm1(x);
}

// exp(x) + c, where exp(x) and its inverse are normal numbers.
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T exp_plus(T x, T c) {
    auto const e = reduce_exponent<float_bits<T>::bias>(x);
    T const scale = float_bits<T>::power_of_two(e.n);
    return multiply_add(scale, e.r_and_tail(), scale + c);
}

// Within 3 ulp: (e - 1) / (e + 1) of e = exp(2 |x|).
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T tanh(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        constexpr T last = sizeof(T) == sizeof(float) ? T(10) : T(20); // from here on 1
        T const a = magnitude(x);
        auto const e = reduce_exponent<float_bits<T>::bias, true, 2>(a);
        T const scale = float_bits<T>::power_of_two(e.n), rest = e.r_and_tail();
        T const y =
            multiply_add(scale, rest, scale - T(1)) / multiply_add(scale, rest, scale + T(1));
        return with_sign_of(select(a > last, T(1), y), x);
    }
#endif
    return std::tanh(x);
}

// 1 / (1 + exp(-x)), within 3 ulp; 0 where that would be subnormal.
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T sigmoid(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        constexpr T highest = sizeof(T) == sizeof(float) ? T(87.33654) : T(708.396418532264);
        return select(magnitude(x) > highest, unless_negative(T(1), x), T(1) / exp_plus(-x, T(1)));
    }
#endif
    T const e = std::exp(select(x < T(0), x, -x)); // does not overflow
    return select(x < T(0), e, T(1)) / (T(1) + e);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
