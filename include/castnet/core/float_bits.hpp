// Bits of a floating-point number: sign, exponent and mantissa.
//
// namespace elementary holds the elementary functions of the CPU. They are free of branches and
// calls, so that the compiler vectorizes loops over them, and a number has the same result in a
// vector as alone. (No compiler vectorizes loops over those of the C library.)
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/select.hpp>
#include <castnet/core/target.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace castnet::elementary::inline CASTNET_VECTORS {

template <class T>
concept Binary = std::same_as<T, float> || std::same_as<T, double>;

// Types of the functions' own code; others, and GPUs, have the C library's. (Compilers make no
// vectors of conditions on doubles before SSE 4.2, and alone the C library's code is faster.)
#if defined(__x86_64__) && !defined(__SSE4_2__)
template <class T>
concept Vectorized = std::same_as<T, float>;
#else
template <class T>
concept Vectorized = Binary<T>;
#endif

template <Binary T>
struct float_bits {
    using type = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    static constexpr int mantissa_size = std::numeric_limits<T>::digits - 1;
    static constexpr type mantissa = (type{1} << mantissa_size) - 1;
    static constexpr type sign = type{1} << (8 * sizeof(T) - 1);
    static constexpr type bias = std::numeric_limits<T>::max_exponent - 1;

    CASTNET_HD static constexpr type of(T x) { return __builtin_bit_cast(type, x); }
    CASTNET_HD static constexpr T number(type bits) { return __builtin_bit_cast(T, bits); }

    // 2 to the power of exponent - bias
    CASTNET_HD static constexpr T power_of_two(type exponent) {
        return number(exponent << mantissa_size);
    }
};

// ln 2 in two parts. Products of the first and exponents are exact.
template <Binary T>
inline constexpr T ln2_high = sizeof(T) == sizeof(float) ? T(0x1.62e4p-1) : T(0x1.62e42feep-1);
template <Binary T>
inline constexpr T ln2_low =
    sizeof(T) == sizeof(float) ? T(1.42860677e-6) : T(1.9082149292705877e-10);

template <Binary T>
CASTNET_HD constexpr T magnitude(T x) {
    using bits = float_bits<T>;
    return bits::number(bits::of(x) & ~bits::sign);
}

// A number without a sign, with that of another one.
template <Binary T>
CASTNET_HD constexpr T with_sign_of(T unsigned_number, T x) {
    using bits = float_bits<T>;
    return bits::number(bits::of(unsigned_number) | (bits::of(x) & bits::sign));
}

// The nearest whole number, the even one of two.
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T nearest_whole(T x) {
#if defined(__x86_64__) && !defined(__SSE4_1__) && !defined(__CUDA_ARCH__) &&                      \
    !defined(__FAST_MATH__)
    if constexpr (Vectorized<T>) { // std::rint is a call there: what is added leaves no fraction
        using bits = float_bits<T>;
        constexpr T large = bits::power_of_two(bits::bias + bits::mantissa_size);
        T const rounded = magnitude(x) + large - large;
        return select(magnitude(x) < large, with_sign_of(rounded, x), x);
    }
#endif
    return std::rint(x);
}

// shift - sum, both so large that they have no bits for a fraction: minus the integer that was
// added to shift, and rounded by that.
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T minus_added_integer(T shift, T sum) {
#if defined(__ASSOCIATIVE_MATH__) || defined(__clang__)
    // The detour over bits keeps -ffast-math from taking the difference to be what was added.
    using bits = float_bits<T>;
    constexpr auto exponent = (bits::bias + bits::mantissa_size) << bits::mantissa_size;
    return shift - bits::number((bits::of(sum) & bits::mantissa) | exponent);
#else
    return shift - sum;
#endif
}

// A number, or 0 where x has a sign; without a comparison.
template <Binary T>
CASTNET_HD constexpr T unless_negative(T number, T x) {
    using bits = float_bits<T>;
    using with_sign = std::make_signed_t<typename bits::type>;
    auto const mask = static_cast<with_sign>(bits::of(x)) >> (8 * sizeof(T) - 1);
    return bits::number(bits::of(number) & ~static_cast<typename bits::type>(mask));
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
