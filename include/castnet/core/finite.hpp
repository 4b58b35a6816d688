// Tests for finite numbers and for NaN that -ffast-math does not remove.
#pragma once

#include <castnet/core/language.hpp>

#include <bit>
#include <cstdint>

namespace castnet::detail {

inline constexpr std::uint64_t exponent_of_double = 0x7ff0'0000'0000'0000;

constexpr bool is_finite(double x) {
    return (std::bit_cast<std::uint64_t>(x) & exponent_of_double) != exponent_of_double;
}

constexpr bool is_nan(double x) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return (std::bit_cast<std::uint64_t>(x) & ~sign) > exponent_of_double;
}

} // namespace castnet::detail
