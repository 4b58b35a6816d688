// Powers.
#pragma once

#include <castnet/core/float_bits.hpp>
#include <castnet/core/select.hpp>
#include <castnet/core/square_root.hpp>

#include <cmath>

namespace castnet::elementary::inline CASTNET_VECTORS {

// The number whose square root is x to the power of 1/2: they differ for -0 and -infinity.
template <Binary T>
CASTNET_HD constexpr T for_square_root(T x) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    return select(x == -infinity, infinity, x + T(0));
}

// Within 1.5 ulp; products, roots and quotients for the exponents 2, 3, 1/2 and -1, which are most
// of those in use.
template <class T>
CASTNET_HD constexpr T pow(T base, T exponent) {
#ifndef __CUDA_ARCH__
    if constexpr (Binary<T>) {
        if (exponent == T(2)) {
            return base * base;
        }
        if (exponent == T(3)) {
            return base * base * base;
        }
        if (exponent == T(0.5)) {
            return square_root(for_square_root(base));
        }
        if (exponent == T(-1)) {
            return T(1) / base;
        }
    }
#endif
    return std::pow(base, exponent);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
