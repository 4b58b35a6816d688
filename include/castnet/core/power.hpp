// Powers.
//
// Those of floats are computed in double: x is 2^k (1 + f) with 1 + f between sqrt(1/2) and
// sqrt(2), log2(1 + f) is a polynomial of s = f / (2 + f), and x^y is 2^n, where n is the integer
// next to y log2(x), times a polynomial of the rest. Coefficients are minimax, by Remez' algorithm.
#pragma once

#include <castnet/core/logarithm.hpp>
#include <castnet/core/polynomial.hpp>
#include <castnet/core/select.hpp>
#include <castnet/core/square_root.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

namespace castnet::elementary::inline CASTNET_VECTORS {

// The number whose square root is x to the power of 1/2: they differ for -0 and -infinity.
template <Binary T>
CASTNET_HD constexpr T for_square_root(T x) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    return select(x == -infinity, infinity, x + T(0));
}

// Of a positive finite base. Square roots come out exactly rounded, as those of square_root.
template <std::same_as<float> T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T power_of_positive(T base, T exponent) {
    using bits = float_bits<double>;
    constexpr double shift =
        1.5 * bits::power_of_two(bits::bias + bits::mantissa_size) + double(bits::bias);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr float most = 0x1p40F; // from here on 0, 1 or infinity
    constexpr double last = 200;    // beyond it 0 or infinity
    double const y = select(magnitude(exponent) < most, exponent, with_sign_of(most, exponent));
    auto const x = reduce_argument(static_cast<double>(base));
    // both in parts, of which none waits for another (Estrin's scheme)
    double const s = x.f / (2.0 + x.f), z = s * s, z2 = z * z;
    double const log2 =
        s * polynomial(z2 * z2,
                       polynomial(z2, polynomial(z, 0.21367305008928203, 0.22091164944837416),
                                  polynomial(z, 0.26233440987675744, 0.32059853377664665)),
                       polynomial(z2, polynomial(z, 0.4121985858524703, 0.5770780163454642),
                                  polynomial(z, 0.9617966939259899, 2.8853900817779268)));
    double const whole = y * x.k; // is exact
    double const all = multiply_add(y, log2, whole), sum = all + shift;
    double const r = multiply_add(y, log2, whole + minus_added_integer(shift, sum));
    double const r2 = r * r;
    double const q = polynomial(
        r2 * r2,
        polynomial(r, 4.4566803042866147e-10, 7.072593279851015e-09, 1.0178051697952667e-07),
        polynomial(r2, polynomial(r, 1.3215442551105324e-06, 1.525273385334653e-05),
                   polynomial(r, 0.00015403530441796798, 0.0013333558146395945)),
        polynomial(r2, polynomial(r, 0.009618129107606852, 0.05550410866482166),
                   polynomial(r, 0.24022650695910097, 0.6931471805599453)));
    return static_cast<float>(select(magnitude(all) > last, unless_negative(infinity, all),
                                     bits::power_of_two(bits::of(sum)) * multiply_add(r, q, 1.0)));
}

// Of any numbers, without branches. 2 and 3 are apart, since squares may lie in the middle of two
// floats and since cubes are rounded twice, and -1, so that it costs little as a constant.
template <std::same_as<float> T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T power_of_float(T base, T exponent) {
    using bits = float_bits<float>;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    float const size = magnitude(base);
    float const at_end = select((size == 0) == (exponent < 0), infinity, 0.0F);
    float p = select(((size == 0) | (size == infinity)) & (exponent != 0), at_end,
                     power_of_positive(size, exponent));
    // larger exponents are even
    float const counted = select(magnitude(exponent) < 0x1p24F, exponent, 0.0F);
    auto const integer = static_cast<std::int32_t>(counted);
    bool const whole = static_cast<float>(integer) == counted;
    float const odd = bits::number(static_cast<std::uint32_t>(integer) << 31); // -0 if it is
    p = with_sign_of(p, bits::number(bits::of(base) & bits::of(select(whole, odd, 0.0F))));
    bool const real = (base >= 0) | (base == -infinity) | ((base < 0) & whole);
    bool const known = (real & (exponent == exponent)) | (exponent == 0) | (base == 1);
    p = select(known, p, nan);
    p = select(exponent == 2, base * base, p);
    p = select(exponent == 3, base * base * base, p);
    return select(exponent == -1, 1 / base, p);
}

// Within 1.5 ulp; products, roots and quotients for the exponents 2, 3, 1/2 and -1, which are most
// of those in use.
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T pow(T base, T exponent) {
#ifndef __CUDA_ARCH__
    if constexpr (std::same_as<T, float> && Vectorized<double>) {
        return power_of_float(base, exponent);
    } else if constexpr (Binary<T>) {
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
