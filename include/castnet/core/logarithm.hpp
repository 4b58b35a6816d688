// Logarithms: natural ones of x and of 1 + x, binary and decimal ones.
//
// The method is that of fdlibm (Sun Microsystems, 1993): x is 2^k (1 + f) with 1 + f between
// sqrt(1/2) and sqrt(2), and log(1 + f) is a polynomial of s = f / (2 + f). Coefficients are
// minimax, by Remez' algorithm.
#pragma once

#include <castnet/core/polynomial.hpp>
#include <castnet/core/select.hpp>

#include <cmath>

namespace castnet::elementary::inline CASTNET_VECTORS {

// x = 2^k (1 + f)
template <Binary T>
struct reduced_argument {
    T k, f;
    typename float_bits<T>::type exponent; // k + bias
};

// Of a normal positive number
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr reduced_argument<T> reduce_argument(T x) {
    using bits = float_bits<T>;
    constexpr auto least = bits::of(T(0.70710678118654752));
    constexpr T shift = bits::power_of_two(bits::bias + bits::mantissa_size);
    auto const i = bits::of(x) + (bits::of(T(1)) - least);
    auto const exponent = i >> bits::mantissa_size;
    return {bits::number(exponent | bits::of(shift)) - (shift + T(bits::bias)),
            bits::number((i & bits::mantissa) + least) - T(1), exponent};
}

// log(2^k (1 + f))
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T log_of_reduced(T k, T f) {
    constexpr bool single = sizeof(T) == sizeof(float);
    T const s = f / (T(2) + f), z = s * s;
    T p;
    if constexpr (single) {
        p = polynomial(z, 0.298728406F, 0.399775058F, 0.666667759F);
    } else {
        p = polynomial(z, 0.14797107493324896, 0.15313946166614659, 0.18183567917952786,
                       0.22222198514693742, 0.28571428742835953, 0.39999999999413349,
                       0.6666666666666734);
    }
    T const half_square = T(0.5) * f * f;
    T const rest = multiply_add(k, ln2_low<T>, s * multiply_add(z, p, half_square));
    return multiply_add(k, ln2_high<T>, f - (half_square - rest));
}

// The logarithm, if known for positive finite x, of any x.
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T log_of_any(T x, T log_x) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    return select(x > T(0), select(x < infinity, log_x, x),
                  select(x == T(0), -infinity, select(x < T(0), nan, x)));
}

// Of a positive number, which may be subnormal
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr reduced_argument<T> reduce_positive(T x) {
    using limits = std::numeric_limits<T>;
    bool const subnormal = x < limits::min();
    constexpr T up = T(1) / limits::epsilon();
    auto a = reduce_argument(select(subnormal, x * up, x));
    a.k -= select(subnormal, T(limits::digits - 1), T(0));
    return a;
}

// Within 1 ulp; -infinity of 0, NaN of negative numbers
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T log(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        auto const a = reduce_positive(x);
        return log_of_any(x, log_of_reduced(a.k, a.f));
    }
#endif
    return std::log(x);
}

// The logarithm in another base, of which two_high + two_low is that of 2 and e that of e.
// Products of the first and exponents are exact.
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T log_in_base(T x, T two_high, T two_low, T e) {
    auto const a = reduce_positive(x);
    T const rest = multiply_add(a.k, two_low, e * log_of_reduced(T(0), a.f));
    return log_of_any(x, multiply_add(a.k, two_high, rest));
}

// Within 2 ulp; exact for powers of 2
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T log2(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        return log_in_base(x, T(1), T(0), T(1.4426950408889634));
    }
#endif
    return std::log2(x);
}

// Within 2 ulp
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T log10(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        constexpr T high = sizeof(T) == sizeof(float) ? T(0x1.344p-2) : T(0x1.34413509f7p-2);
        constexpr T low = sizeof(T) == sizeof(float) ? T(4.60503898e-6) : T(1.42050232272661e-13);
        return log_in_base(x, high, low, T(0.43429448190325183));
    }
#endif
    return std::log10(x);
}

// log(1 + x), within 2 ulp
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T log1p(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        using bits = float_bits<T>;
        constexpr T epsilon = std::numeric_limits<T>::epsilon();
        T const sum = T(1) + x;
        auto const a = reduce_argument(sum);
        // with what the sum lacks, which does not count where it is large
        T const lack = select(x < T(1), x - (sum - T(1)), T(1) - (sum - x));
        T const whole = multiply_add(lack, bits::power_of_two(2 * bits::bias - a.exponent), a.f);
        T const f = select(sum < T(4) / epsilon, whole, a.f);
        return select(magnitude(x) < epsilon / 2, x, log_of_any(sum, log_of_reduced(a.k, f)));
    }
#endif
    return std::log1p(x);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
