// Powers.
//
// x is 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and the logarithm of 1 + f is a
// polynomial of s = f / (2 + f). Powers of floats are computed in double by log2 and 2^n, those of
// doubles in twice their precision by the natural logarithm and exp. Coefficients are minimax, by
// Remez' algorithm.
#pragma once

#include <castnet/core/double_double.hpp>
#include <castnet/core/exponential.hpp>
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
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T for_square_root(T x) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    return select(x == -infinity, infinity, x + T(0));
}

// Of a positive finite base. Square roots come out exactly rounded.
template <std::same_as<float> T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T power_of_positive(T base, T exponent) {
    using bits = float_bits<double>;
    constexpr double shift =
        1.5 * bits::power_of_two(bits::bias + bits::mantissa_size) + double(bits::bias);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr float most = 0x1p40F; // from here on 0, 1 or infinity
    constexpr double last = 200;    // beyond it 0 or infinity
    auto const y = static_cast<double>(
        select(magnitude(exponent) < most, exponent, with_sign_of(most, exponent)));
    auto const x = reduce_argument(static_cast<double>(base));
    // both in parts, of which none waits for another (Estrin's scheme)
    double const s = x.f / (2.0 + x.f), z = s * s, z2 = z * z;
    double const of_two =
        s * polynomial(z2 * z2,
                       polynomial(z2, polynomial(z, 0.21367305008928203, 0.22091164944837416),
                                  polynomial(z, 0.26233440987675744, 0.32059853377664665)),
                       polynomial(z2, polynomial(z, 0.4121985858524703, 0.5770780163454642),
                                  polynomial(z, 0.9617966939259899, 2.8853900817779268)));
    double const whole = y * x.k; // is exact
    double const all = multiply_add(y, of_two, whole), sum = all + shift;
    double const r = multiply_add(y, of_two, whole + minus_added_integer(shift, sum));
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

// The natural logarithm of a positive finite number, within 2^-65 of itself.
template <std::same_as<double> T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr double_double precise_log(T x) {
    auto const a = reduce_positive(x);
    double_double const s = quotient(a.f, sum({2.0}, {a.f})), z = product(s, s);
    double const rest = polynomial(z.high, 0.1319621573023176, 0.1325682925504418,
                                   0.1538675686864332, 0.18181784376396165, 0.22222222519826848,
                                   0.2857142857010005, 0.40000000000002256);
    constexpr double_double two_thirds{0.66666666666666663, 3.7007434154171883e-17};
    double_double const of_rest =
        product(s, sum({2.0}, product(z, sum(two_thirds, {z.high * rest}))));
    double_double const log = sum({a.k * ln2_high<double>, a.k * ln2_low<double>}, of_rest);
    return sum({log.high}, {log.low});
}

// The exactly rounded square root of a positive finite number: an estimate, or one of the two
// numbers next to it. Between two neighbours a and b, roots of what is less than a b are nearer to
// the less. (std::sqrt would keep compilers from making vectors.)
template <std::same_as<double> T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T nearest_root(T x, T estimate) {
    using bits = float_bits<T>;
    auto const i = bits::of(estimate);
    T const below = bits::number(i - 1), above = bits::number(i + 1);
    auto const less = [&](T neighbour) __attribute__((always_inline)) {
        // by the sign, which differences that underflow keep
        return (bits::of(multiply_add(estimate, neighbour, -x)) & bits::sign) != 0;
    };
    return select(less(below), select(less(above), above, estimate), below);
}

template <std::same_as<double> T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T power_of_positive(T base, T exponent) {
    constexpr double most = 0x1p64; // from here on 0, 1 or infinity
    double const y = select(magnitude(exponent) < most, exponent, with_sign_of(most, exponent));
    double_double const x = product({y}, precise_log(base));
    auto const e = reduce_exponent<2 * float_bits<double>::bias>(x.high);
    double const low = e.low + x.low, times_exp = multiply_add(low, e.r_and_tail(), low);
    T const power = scaled_exp(x.high, e.n, e.r + multiply_add(e.square, e.p, times_exp));
    return select(y == 0.5, nearest_root(base, power), power);
}

// Of any numbers, without branches. 2 and 3 are apart, since squares may lie in the middle of two
// numbers and since cubes are rounded twice, and -1, so that it costs little as a constant.
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T power_of_any(T base, T exponent) {
    using bits = float_bits<T>;
    constexpr T infinity = std::numeric_limits<T>::infinity();
    constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    T const size = magnitude(base), steps = magnitude(exponent);
    T const at_end = select((size == T(0)) == (exponent < T(0)), infinity, T(0));
    T p = select(((size == T(0)) | (size == infinity)) & (exponent != T(0)), at_end,
                 power_of_positive(size, exponent));
    // The last bit of a sum with the number from which on all are integers says what is odd.
    constexpr T integers = bits::power_of_two(bits::bias + bits::mantissa_size);
    T const sum = select(steps < integers, steps + integers, steps);
    bool const whole = (steps >= integers) | (sum - integers == steps);
    auto const odd = bits::of(select(whole & (steps < 2 * integers), sum, T(0)))
                     << (8 * sizeof(T) - 1);
    p = with_sign_of(p, bits::number(bits::of(base) & odd));
    bool const real = (base >= T(0)) | (base == -infinity) | ((base < T(0)) & whole);
    bool const known = (real & (exponent == exponent)) | (exponent == T(0)) | (base == T(1));
    p = select(known, p, nan);
    p = select(exponent == T(2), base * base, p);
    p = select(exponent == T(3), base * base * base, p);
    return select(exponent == T(-1), T(1) / base, p);
}

// Within 1.5 ulp; products, roots and quotients for the exponents 2, 3, 1/2 and -1, which are most
// of those in use.
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T pow(T base, T exponent) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T> && Vectorized<double> &&
                  (std::same_as<T, float> || has_double_doubles)) {
        return power_of_any(base, exponent);
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
