// The length of a vector of two numbers.
#pragma once

#include <castnet/core/float_bits.hpp>
#include <castnet/core/select.hpp>

#include <cmath>
#include <concepts>
#include <limits>

namespace castnet::elementary::inline CASTNET_VECTORS {

// Of floats: in double, which has their squares exactly. Infinity where one of them is infinite,
// even if the other one is NaN.
template <std::same_as<float> T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr double sum_of_squares(T a, T b) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    auto const x = static_cast<double>(a), y = static_cast<double>(b);
    bool const is_a = magnitude(a) == infinity, is_b = magnitude(b) == infinity;
    return select(is_a | is_b, double(infinity), x * x + y * y);
}

template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T hypot(T a, T b) {
#ifndef __CUDA_ARCH__
    if constexpr (std::same_as<T, float>) {
        return static_cast<T>(std::sqrt(sum_of_squares(a, b)));
    }
#endif
    return std::hypot(a, b);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
