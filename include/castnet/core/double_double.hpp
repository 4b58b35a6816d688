// Numbers of twice the precision: unevaluated sums of two doubles.
//
// (T. J. Dekker, A floating-point technique for extending the available precision, 1971.) They need
// a multiply_add that rounds once, and a compiler that leaves sums in their order.
#pragma once

#include <castnet/core/polynomial.hpp>

namespace castnet::elementary::inline CASTNET_VECTORS {

#if (defined(__FMA__) || defined(__ARM_FEATURE_FMA)) && !defined(__FAST_MATH__) &&                 \
    !defined(__ASSOCIATIVE_MATH__)
inline constexpr bool has_double_doubles = true;
#else
inline constexpr bool has_double_doubles = false;
#endif

struct double_double {
    double high, low = 0;
};

// a is 0, or its magnitude not less than that of b.
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr double_double sum(double_double a, double_double b) {
    double const high = a.high + b.high;
    return {high, (a.high - high) + b.high + (a.low + b.low)};
}

CASTNET_HD CASTNET_ALWAYS_INLINE constexpr double_double product(double_double a, double_double b) {
    double const high = a.high * b.high;
    return {high, multiply_add(a.low, b.high,
                               multiply_add(a.high, b.low, multiply_add(a.high, b.high, -high)))};
}

CASTNET_HD CASTNET_ALWAYS_INLINE constexpr double_double quotient(double a, double_double b) {
    double const inverse = 1 / b.high, high = a * inverse;
    return {high, multiply_add(-high, b.low, multiply_add(-high, b.high, a)) * inverse};
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
