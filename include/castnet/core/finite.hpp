// Test for finite numbers that -ffast-math does not remove.
#pragma once

#include <castnet/core/language.hpp>

#include <bit>
#include <cstdint>

namespace castnet::detail {

constexpr bool is_finite(double x) {
    constexpr std::uint64_t exponent = 0x7ff0'0000'0000'0000;
    return (std::bit_cast<std::uint64_t>(x) & exponent) != exponent;
}

} // namespace castnet::detail
