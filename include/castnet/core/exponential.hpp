// Exponential function, exp(x) - 1, the hyperbolic tangent and the logistic function.
//
// The method is Cody & Waite's (Software Manual for the Elementary Functions, 1980): x is n ln 2 +
// r with |r| <= ln 2 / 2, where ln 2 has two parts, so that r is exact, and exp(r) is a polynomial.
// Coefficients are minimax, by Remez' algorithm.
#pragma once

#include <castnet/core/polynomial.hpp>
#include <castnet/core/select.hpp>

#include <cmath>

namespace castnet::elementary::inline CASTNET_VECTORS {

// x = n ln 2 + r, and exp(r) = 1 + r + tail
template <Binary T>
struct reduced_exponent {
    T r, tail;
    typename float_bits<T>::type n; // plus `offset`
    static constexpr auto offset = typename float_bits<T>::type{1}
                                   << (float_bits<T>::mantissa_size - 1);
};

template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr reduced_exponent<T> reduce_exponent(T x) {
    using bits = float_bits<T>;
    constexpr bool single = sizeof(T) == sizeof(float);
    constexpr T ln2_high = single ? T(0x1.62e4p-1) : T(0x1.62e42feep-1);
    constexpr T ln2_low = single ? T(1.42860677e-6) : T(1.9082149292705877e-10);
    // The sum has no bits for a fraction. (The detour over bits keeps -ffast-math from
    // taking the difference to be x log2(e).)
    constexpr auto zero = bits::bias + bits::mantissa_size;
    constexpr T shift = bits::power_of_two(zero) + T(reduced_exponent<T>::offset);
    auto const n = bits::of(multiply_add(x, T(1.4426950408889634), shift)) & bits::mantissa;
    T const minus_n = shift - bits::number(n | (zero << bits::mantissa_size));
    T const high = multiply_add(minus_n, ln2_high, x);
    T const r = multiply_add(minus_n, ln2_low, high);
    T const low = multiply_add(minus_n, ln2_low, high - r);
    T const square = r * r;
    if constexpr (single) {
        // in two halves, of which neither waits for the other (Estrin's scheme)
        T const p = multiply_add(
            square, polynomial(square, 0.00139505859F, polynomial(r, 0.00836894661F, 0.041666206F)),
            polynomial(r, 0.166665182F, 0.5F));
        return {r, multiply_add(square, p, low), n};
    } else {
        T const p = polynomial(r, 2.5118067929483206e-08, 2.7631366385425598e-07,
                               2.7557215617068006e-06, 2.4801489742433553e-05,
                               0.00019841269918186868, 0.0013888888947160307, 0.008333333333306818,
                               0.041666666666515105, 0.16666666666666699, 0.50000000000000122);
        return {r, multiply_add(square, p, low), n};
    }
}

// Within 1 ulp; subnormal results, too.
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T exp(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        using bits = float_bits<T>;
        // from here on 0 or infinity
        constexpr T lowest = sizeof(T) == sizeof(float) ? T(-104) : T(-746);
        constexpr T highest = sizeof(T) == sizeof(float) ? T(89) : T(710);
        auto const e = reduce_exponent(select(x < lowest, lowest, select(x > highest, highest, x)));
        // 2 to the power of n, in two factors: one would overflow or be subnormal
        auto const half = (e.n >> 1) - e.offset / 2;
        auto const rest = e.n - e.offset - half;
        return (T(1) + (e.r + e.tail)) * bits::power_of_two(bits::bias + half) *
               bits::power_of_two(bits::bias + rest);
    }
#endif
    return std::exp(x);
}

// Within 2 ulp
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T expm1(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        using bits = float_bits<T>;
        // from here on -1 or infinity
        constexpr T lowest = -64;
        constexpr T highest = sizeof(T) == sizeof(float) ? T(89) : T(710);
        auto const e = reduce_exponent(select(x < lowest, lowest, select(x > highest, highest, x)));
        // half of 2 to the power of n, which itself might overflow
        T const scale = bits::power_of_two(bits::bias - 1 + (e.n - e.offset));
        T const half = multiply_add(scale, e.tail, multiply_add(scale, e.r, scale - T(0.5)));
        return select(magnitude(x) < std::numeric_limits<T>::epsilon() / 2, x, half + half);
    }
#endif
    return std::expm1(x);
}

// exp(x) + c, where exp(x) and its inverse are normal numbers.
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T exp_plus(T x, T c) {
    using bits = float_bits<T>;
    auto const e = reduce_exponent(x);
    T const scale = bits::power_of_two(bits::bias + (e.n - e.offset));
    return multiply_add(scale, e.tail, multiply_add(scale, e.r, scale + c));
}

// Within 2 ulp. Near 0 the exponential function would cancel: there it is a minimax polynomial. The
// limit of its argument is applied to the result, which need not wait for it then; so it is by
// sigmoid.
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T tanh(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        constexpr T highest = sizeof(T) == sizeof(float) ? T(10) : T(20); // from here on 1
        T const a = magnitude(x), square = x * x;
        T p;
        if constexpr (sizeof(T) == sizeof(float)) {
            p = polynomial(square, -0.00571759557F, 0.0206512082F, -0.0537437424F, 0.133314952F,
                           -0.333332837F);
        } else {
            p = polynomial(square, -1.6110757737922565e-05, 7.7226287490209463e-05,
                           -0.00022864006169991987, 0.00058635620042972925, -0.0014549717409952393,
                           0.0035919918493825588, -0.0088632213590680523, 0.021869487605551251,
                           -0.053968253932673398, 0.13333333333265443, -0.33333333333332882);
        }
        bool const is_near = a<T(0.625), is_far = a> highest;
        T const elsewhere = select(is_far, T(1), multiply_add(a * square, p, a));
        T const y = T(1) - T(2) / exp_plus(a + a, T(1));
        return with_sign_of(select(is_near | is_far, elsewhere, y), x);
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
        return select(magnitude(x) > highest, select(x < T(0), T(0), T(1)),
                      T(1) / exp_plus(-x, T(1)));
    }
#endif
    T const e = std::exp(select(x < T(0), x, -x)); // does not overflow
    return select(x < T(0), e, T(1)) / (T(1) + e);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
