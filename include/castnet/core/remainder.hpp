// Remainders of divisions.
#pragma once

#include <castnet/core/polynomial.hpp>
#include <castnet/core/select.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace castnet::elementary::inline CASTNET_VECTORS {

// Whether remainder_of_few() takes these numbers: it needs a multiply_add that rounds once, so that
// no bits of a - n b are lost, and a quotient whose nearest whole number is at most one too large
// or too small.
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr bool has_few_multiples([[maybe_unused]] T a,
                                                                  [[maybe_unused]] T b) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    constexpr T most = T(0.25) / std::numeric_limits<T>::epsilon();
    bool const few = magnitude(a / b) <= most;
    bool const finite = magnitude(b) <= std::numeric_limits<T>::max();
    return few & finite;
#else
    return false;
#endif
}

// a - n b of the whole number n toward 0, exactly, with the sign of a
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T remainder_of_few(T a, T b) {
    using bits = float_bits<T>;
    T const rest = multiply_add(-std::rint(a / b), b, a); // of the nearest multiple
    bool const beyond = ((bits::of(rest) ^ bits::of(a)) & bits::sign) != 0;
    T const other = rest + with_sign_of(magnitude(b), a);
    return with_sign_of(magnitude(select(beyond && rest != T(0), other, rest)), a);
}

// Exact, as the C library's; of integers by 0 it is 0. (A quotient of integers of up to 32 bits as
// doubles, which divide in vectors, rounds to no other whole number.)
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T fmod(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        bool const is_minus_one = std::is_signed_v<T> && b == static_cast<T>(-1); // may overflow
        T const divisor = select((b == T(0)) | is_minus_one, T(1), b);
        if constexpr (sizeof(T) > sizeof(std::int32_t)) {
            return static_cast<T>(a % divisor);
        } else {
            auto const quotient = static_cast<double>(a) / static_cast<double>(divisor);
            return static_cast<T>(a - static_cast<T>(quotient) * divisor);
        }
    } else {
#ifndef __CUDA_ARCH__
        if constexpr (Binary<T>) {
            if (has_few_multiples(a, b)) {
                return remainder_of_few(a, b);
            }
        }
#endif
        return std::fmod(a, b);
    }
}

// That of the quotient rounded down, from fmod(a, b): it has the sign of b.
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T with_sign_of_divisor(T rest, T b) {
    if constexpr (std::is_unsigned_v<T>) {
        return rest;
    } else if constexpr (std::is_integral_v<T>) {
        bool const differ = (rest ^ b) < T(0);
        return static_cast<T>(rest + select((rest != T(0)) & differ, b, T(0)));
    } else {
        bool const same_sign = (rest < T(0)) == (b < T(0));
        return select(rest == T(0), rest, select(same_sign, rest, T(rest + b)));
    }
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
