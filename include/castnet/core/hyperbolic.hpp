// Hyperbolic sine and cosine, and the inverse functions. (The tangent is in exponential.hpp.)
#pragma once

#include <castnet/core/exponential.hpp>
#include <castnet/core/logarithm.hpp>

#include <cmath>

namespace castnet::elementary::inline CASTNET_VECTORS {

// From here on sinh and cosh are infinity.
template <Binary T>
inline constexpr T hyperbolic_limit = sizeof(T) == sizeof(float) ? T(89.5) : T(710.5);

// Within 3 ulp: of e = exp(|x|) - 1, half of e + e / (e + 1).
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T sinh(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        T const a = magnitude(x);
        // a quarter of e, which itself might overflow
        T const q = part_of_expm1<2>(select(a > hyperbolic_limit<T>, hyperbolic_limit<T>, a));
        T const y = (q + q) + q / ((q + q) + T(0.5));
        return with_sign_of(select(a < std::numeric_limits<T>::epsilon() / 2, a, y), x);
    }
#endif
    return std::sinh(x);
}

// Within 3 ulp
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T cosh(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        using bits = float_bits<T>;
        T const a = magnitude(x);
        auto const e = reduce_exponent<bits::bias - 2>(
            select(a > hyperbolic_limit<T>, hyperbolic_limit<T>, a));
        T const scale = bits::power_of_two(e.n);
        T const q = multiply_add(scale, e.r_and_tail(), scale); // a quarter of exp(|x|)
        return (q + q) + T(0.125) / q;
    }
#endif
    return std::cosh(x);
}

// The inverse of sinh, of which root is sqrt(1 + x^2). Within 4 ulp
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T asinh_with_root(T x, T root) {
    T const a = magnitude(x);
    bool const large = a > T(2) / std::numeric_limits<T>::epsilon(); // log(2 a)
    T const y = log1p(select(large, a, a + a * a / (T(1) + root)));
    return with_sign_of(y + select(large, T(0.69314718055994531), T(0)), x);
}

// The inverse of cosh, of which root is sqrt((x - 1) (x + 1)); NaN below 1. Within 4 ulp
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T acosh_with_root(T x, T root) {
    bool const large = x > T(2) / std::numeric_limits<T>::epsilon(); // log(2 x)
    T const y = log1p(select(large, x, (x - T(1)) + root));
    return select(x < T(1), std::numeric_limits<T>::quiet_NaN(),
                  y + select(large, T(0.69314718055994531), T(0)));
}

template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T one_plus_square(T x) {
    return multiply_add(x, x, T(1));
}
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T square_minus_one(T x) {
    return (x - T(1)) * (x + T(1));
}

// Within 4 ulp
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T asinh(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        return asinh_with_root(x, std::sqrt(one_plus_square(x)));
    }
#endif
    return std::asinh(x);
}

// Within 4 ulp
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T acosh(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        return acosh_with_root(x, std::sqrt(square_minus_one(x)));
    }
#endif
    return std::acosh(x);
}

// Within 3 ulp: half of log((1 + |x|) / (1 - |x|))
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T atanh(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        T const a = magnitude(x);
        T const y = T(0.5) * log1p((a + a) / (T(1) - a));
        return with_sign_of(select(a > T(1), std::numeric_limits<T>::quiet_NaN(), y), x);
    }
#endif
    return std::atanh(x);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
