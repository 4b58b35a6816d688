// Polynomial at a point, by Horner's rule.
#pragma once

#include <castnet/core/float_bits.hpp>

namespace castnet::elementary::inline CASTNET_VECTORS {

// a * b + c, rounded once where the target can. (Left to the compiler, that would depend on what
// surrounds it, and vectors might differ from single numbers.)
template <Binary T>
CASTNET_HD constexpr T multiply_add(T a, T b, T c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    if constexpr (sizeof(T) == sizeof(float)) {
        return __builtin_fmaf(a, b, c);
    } else {
        return __builtin_fma(a, b, c);
    }
#else
    return a * b + c;
#endif
}

// Coefficients from that of the highest power to that of 1.
template <Binary T, class... C>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T polynomial(T x, T highest, C... lower) {
    T sum = highest;
    (..., (sum = multiply_add(sum, x, lower)));
    return sum;
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
