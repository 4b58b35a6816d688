// Branchless select between two numbers, which compilers vectorize.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/target.hpp>

#include <cstdint>
#include <type_traits>

namespace castnet::inline CASTNET_VECTORS {

// Whether a choice between doubles is made by a mask. (Without SSE4.2, GCC has no vectors of masks
// of 64 bits, but of such choices.)
#if defined(__SSE2__) && !defined(__SSE4_2__) && !defined(__clang__)
inline constexpr bool masks_doubles = false;
#else
inline constexpr bool masks_doubles = true;
#endif

// yes where the condition holds, no elsewhere; both are computed. GCC turns `c ? a : b` with a
// constant, and a condition as a number, into branches that multiply or add apart, or that read one
// of two numbers in memory, and a loop with such branches stays scalar.
template <class T>
CASTNET_HD constexpr T select(bool condition, T yes, T no) {
#ifndef __CUDA_ARCH__
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        using bits = std::make_unsigned_t<T>;
        auto const mask = static_cast<bits>(0U - bits{condition});
        return static_cast<T>((static_cast<bits>(yes) & mask) |
                              (static_cast<bits>(no) & static_cast<bits>(~mask)));
    } else if constexpr (std::is_same_v<T, float> || (std::is_same_v<T, double> && masks_doubles)) {
        using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        bits const mask = -static_cast<bits>(condition);
        return __builtin_bit_cast(T, (__builtin_bit_cast(bits, yes) & mask) |
                                         (__builtin_bit_cast(bits, no) & ~mask));
    }
#endif
    return condition ? yes : no;
}

} // namespace castnet::inline CASTNET_VECTORS
