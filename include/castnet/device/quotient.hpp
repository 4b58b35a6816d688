// Division by a launch-time constant, as a multiplication (Granlund & Montgomery, "Division by
// invariant integers using multiplication", PLDI 1994).
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/ir.hpp>

#include <cstdint>

namespace castnet::ir {

// Divides 0 <= n < 2^31 by 1 <= divisor < 2^31.
struct quotient {
    std::uint32_t divisor = 1, magic = 1, shift = 0;

    quotient() = default;
    CASTNET_HD constexpr explicit quotient(std::ptrdiff_t d)
        : divisor{static_cast<std::uint32_t>(d)} {
        while ((std::uint64_t{1} << shift) < divisor) {
            ++shift;
        }
        std::uint64_t const rest = (std::uint64_t{1} << shift) - divisor;
        magic = static_cast<std::uint32_t>((rest << 32) / divisor + 1);
    }

    CASTNET_HD constexpr std::uint32_t divide(std::uint32_t n) const {
        return (static_cast<std::uint32_t>((std::uint64_t{n} * magic) >> 32) + n) >> shift;
    }
    CASTNET_HD constexpr std::uint32_t remainder(std::uint32_t n) const {
        return n - divide(n) * divisor;
    }
};

} // namespace castnet::ir
