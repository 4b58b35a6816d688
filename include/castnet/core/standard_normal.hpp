// Standard normal numbers, each from one random word.
//
// The word is a probability, and the number the quantile that belongs to it: the square root of 2
// times the inverse of the error function, which is an approximation by Giles, "Approximating the
// erfinv function" (GPU Computing Gems 2, 2011).
#pragma once

#include <castnet/core/logarithm.hpp>
#include <castnet/core/square_root.hpp>

#include <cstdint>

namespace castnet::elementary::inline CASTNET_VECTORS {

// The upper 24 bits of the word say which of 2^24 equally likely numbers, up to 5.42 in size;
// relative to them the approximation is within 1e-6.
template <Binary T>
CASTNET_HD inline T standard_normal(std::uint32_t word) {
    // in (-1, 1), as odd multiples of 2^-24, so that both factors below are exact
    T const x = static_cast<T>(static_cast<std::int32_t>(word >> 8) * 2 - 16'777'215) *
                static_cast<T>(1.0 / 16'777'216.0);
    T const w = -log((T(1) - x) * (T(1) + x));
    T const middle = polynomial(w - T(2.5), T(2.81022636e-08), T(3.43273939e-07), T(-3.5233877e-06),
                                T(-4.39150654e-06), T(0.00021858087), T(-0.00125372503),
                                T(-0.00417768164), T(0.246640727), T(1.50140941));
    T const tail = polynomial(square_root(w) - T(3), T(-0.000200214257), T(0.000100950558),
                              T(0.00134934322), T(-0.00367342844), T(0.00573950773),
                              T(-0.0076224613), T(0.00943887047), T(1.00167406), T(2.83297682));
    return T(1.4142135623730951) * x * select(w < T(5), middle, tail);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
