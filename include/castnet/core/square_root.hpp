// Square roots of numbers, and of each number of a compiler's vector.
//
// A loop over std::sqrt stays scalar under GCC, because std::sqrt must report errors in errno; so
// code to be vectorized calls this.
#pragma once

#include <castnet/core/annotations.hpp>

#include <cmath>
#include <type_traits>

namespace castnet {

// The square root of a constant from 0 up, by Newton's method (std::sqrt is no constant expression
// before C++26).
constexpr double constant_square_root(double x) {
    if (x == 0) {
        return 0;
    }
    double root = x < 1 ? 1 : x, next = (root + x / root) / 2;
    while (next < root) {
        root = next;
        next = (root + x / root) / 2;
    }
    return root;
}

template <class V>
CASTNET_HD inline V square_root(V x) {
    if constexpr (std::is_floating_point_v<V>) {
        return std::sqrt(x);
    } else {
#if defined(__clang__)
        return __builtin_elementwise_sqrt(x);
#elif defined(__x86_64__) && !defined(__CUDACC__)
        constexpr bool single = sizeof(x[0]) == sizeof(float);
#ifdef __AVX__
        if constexpr (single) {
            asm("vsqrtps %1, %0" : "=v"(x) : "v"(x));
        } else {
            asm("vsqrtpd %1, %0" : "=v"(x) : "v"(x));
        }
#else
        if constexpr (single) {
            asm("sqrtps %1, %0" : "=x"(x) : "x"(x));
        } else {
            asm("sqrtpd %1, %0" : "=x"(x) : "x"(x));
        }
#endif
        return x;
#else
        for (unsigned i = 0; i < sizeof(x) / sizeof(x[0]); ++i) {
            x[i] = std::sqrt(x[i]);
        }
        return x;
#endif
    }
}

} // namespace castnet
