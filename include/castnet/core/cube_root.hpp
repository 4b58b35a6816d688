// Cube roots.
#pragma once

#include <castnet/core/float_bits.hpp>
#include <castnet/core/polynomial.hpp>
#include <castnet/core/select.hpp>

#include <cmath>
#include <concepts>
#include <limits>

namespace castnet::elementary::inline CASTNET_VECTORS {

// Of a float, within 0.501 ulp: r, its reciprocal, by Newton's method without divisions, and a last
// step for a r^2 in double. (The first r is a third of the exponent, by the integer of the bits.)
template <std::same_as<float> T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T cube_root_in_vectors(T x) {
    using bits = float_bits<T>;
    using limits = std::numeric_limits<T>;
    T const size = magnitude(x);
    bool const is_subnormal = size < limits::min();
    T const a = select(is_subnormal, size * 0x1p24F, size);
    T r = bits::number(0x54a2fa8cU - bits::of(a) / 3);
    for (int step = 0; step != 3; ++step) {
        r = multiply_add(r * T(1.0 / 3), multiply_add(-(a * r * r), r, T(1)), r);
    }
    auto const wide = static_cast<double>(a), first = static_cast<double>(r);
    double const square = first * first, root = wide * square;
    double const better =
        multiply_add(multiply_add(-root * root, root, wide), square * (1.0 / 3), root);
    auto const found = static_cast<T>(better * select(is_subnormal, 0x1p-8, 1.0));
    return select(size < limits::infinity(), with_sign_of(found, x), x);
}

template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T cube_root(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (std::same_as<T, float>) {
        return cube_root_in_vectors(x);
    }
#endif
    return std::cbrt(x);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
