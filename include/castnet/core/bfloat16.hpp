// bfloat16, the upper half of a float: 16 bits with float's range and 8 bits of precision. A
// storage format; arithmetic is that of the type it is converted to.
#pragma once

#include <castnet/core/annotations.hpp>

#include <cstdint>

namespace castnet {

struct bfloat16 {
    std::uint16_t bits;

    bfloat16() = default;
    // Rounds to nearest, ties to even.
    CASTNET_HD constexpr explicit bfloat16(float x) : bits{rounded(x)} {}
    CASTNET_HD constexpr explicit bfloat16(double x) : bfloat16(static_cast<float>(x)) {}

    CASTNET_HD constexpr explicit operator float() const {
        return __builtin_bit_cast(float, std::uint32_t{bits} << 16);
    }
    CASTNET_HD constexpr explicit operator double() const {
        return static_cast<double>(static_cast<float>(*this));
    }

    CASTNET_HD constexpr bfloat16& operator+=(bfloat16 other) {
        return *this = bfloat16{static_cast<float>(*this) + static_cast<float>(other)};
    }
    friend bool operator==(bfloat16, bfloat16) = default; // bitwise

private:
    CASTNET_HD static constexpr std::uint16_t rounded(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        if (!__builtin_is_constant_evaluated()) { // GPUs from sm_80 on have an instruction for that
            std::uint16_t narrow;
            asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow) : "f"(x));
            return narrow;
        }
#endif
        auto const wide = __builtin_bit_cast(std::uint32_t, x);
        bool const nan = (wide & 0x7fffffffU) > 0x7f800000U;
        std::uint32_t const up = wide + 0x7fffU + (wide >> 16 & 1U);
        return static_cast<std::uint16_t>(nan ? wide >> 16 | 0x40U : up >> 16);
    }
};

// Two numbers, rounded, the first one in the lower half.
CASTNET_HD inline std::uint32_t two_bfloat16(float first, float second) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    return both;
#else
    return bfloat16(first).bits | std::uint32_t{bfloat16(second).bits} << 16;
#endif
}

} // namespace castnet
