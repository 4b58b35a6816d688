// Tests for finite numbers and for NaN that -ffast-math does not remove.
#pragma once

#include <castnet/core/float_bits.hpp>

#include <bit>

namespace castnet::detail {

template <elementary::Binary T>
inline constexpr auto exponent_bits =
    ~(elementary::float_bits<T>::mantissa | elementary::float_bits<T>::sign);

// By reference, since clang takes what is passed by value for finite.
template <elementary::Binary T>
constexpr bool is_finite(T const& x) {
    using bits = elementary::float_bits<T>;
    return (std::bit_cast<typename bits::type>(x) & exponent_bits<T>) != exponent_bits<T>;
}

template <elementary::Binary T>
constexpr bool is_nan(T const& x) {
    using bits = elementary::float_bits<T>;
    return (std::bit_cast<typename bits::type>(x) & ~bits::sign) > exponent_bits<T>;
}

} // namespace castnet::detail
