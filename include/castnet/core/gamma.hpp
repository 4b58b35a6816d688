// Logarithm of the gamma function, and its derivatives.
//
// The series are Stirling's and those that it has for derivatives (Abramowitz & Stegun, Handbook of
// Mathematical Functions, 6.1.41, 6.3.18 and 6.4.11). Small x are first raised by steps of 1, and
// negative ones reflected (6.1.17, 6.3.7, 6.4.7). Floats are computed in double.
#pragma once

#include <castnet/core/exponential.hpp>
#include <castnet/core/logarithm.hpp>
#include <castnet/core/power.hpp>
#include <castnet/core/sine.hpp>

#include <cmath>
#include <concepts>
#include <limits>
#include <numbers>

namespace castnet::elementary::inline CASTNET_VECTORS {

inline constexpr double pole_of_gamma = std::numeric_limits<double>::infinity();
inline constexpr double undefined_derivative = std::numeric_limits<double>::quiet_NaN();

// Steps up to a number from which on as many terms of the series are exact to T
template <std::floating_point T>
inline constexpr int gamma_steps = sizeof(T) == sizeof(float) ? 4 : 8;

// The polynomial of the last coefficients, as many as T needs
template <std::floating_point T, class... C>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr double gamma_series(double w, double a, double b,
                                                               double c, double d, C... lower) {
    if constexpr (gamma_steps<T> == sizeof...(C)) {
        return polynomial(w, lower...);
    } else {
        return polynomial(w, a, b, c, d, lower...);
    }
}

// x, at least 0, in steps of 1 up to z
struct raised_argument {
    double z;
    double product; // x (x + 1) … (z - 1)
    double slope;   // the derivative of the product by x
};
template <int Steps>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr raised_argument raise_argument(double x) {
    raised_argument r{x, 1, 0};
    for (int step = 0; step < Steps; ++step) {
        bool const small = r.z < Steps;
        r.slope = select(small, multiply_add(r.slope, r.z, r.product), r.slope);
        r.product *= select(small, r.z, 1.0);
        r.z += select(small, 1.0, 0.0);
    }
    return r;
}

// The logarithm of |gamma(x)|, infinity at 0, -1, -2, …. Within 1e-14 or, of large numbers, 5 ulp
template <std::floating_point T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T lgamma(T x) {
    auto const at = static_cast<double>(x);
    bool const negative = at < 0;
    auto const r = raise_argument<gamma_steps<T>>(select(negative, 1 - at, at));
    double const rest = at - std::rint(at), inverse = 1 / r.z;
    double const series =
        inverse * gamma_series<T>(inverse * inverse, -3617.0 / 122400, 1.0 / 156, -691.0 / 360360,
                                  1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12);
    double const of_raised = multiply_add(r.z - 0.5, elementary::log(r.z) - 1,
                                          series + 0.41893853320467274); // log(2 pi) / 2 - 1 / 2
    double const sine = magnitude(sine_of_few_turns(std::numbers::pi * rest));
    double const steps =
        elementary::log(r.product * select(negative, std::numbers::pi / sine, 1.0));
    double const y = select(negative, steps - of_raised, of_raised - steps);
    bool const pole = negative & !(magnitude(rest) > 0);
    return static_cast<T>(select(pole, pole_of_gamma, y));
}

// The derivative of lgamma, NaN at -1, -2, …. Within 1e-14 or, of large numbers, 5 ulp
template <std::floating_point T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T digamma(T x) {
    auto const at = static_cast<double>(x);
    bool const negative = at < 0;
    auto const r = raise_argument<gamma_steps<T>>(select(negative, 1 - at, at));
    double const angle = std::numbers::pi * (at - std::rint(at)), inverse = 1 / r.z;
    double const w = inverse * inverse;
    double const series =
        multiply_add(w,
                     gamma_series<T>(w, -3617.0 / 8160, 1.0 / 12, -691.0 / 32760, 1.0 / 132,
                                     -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12),
                     0.5 * inverse);
    double const y = elementary::log(r.z) - series - r.slope / r.product;
    double const turn = std::numbers::pi * cosine_of_few_turns(angle) / sine_of_few_turns(angle);
    double const reflected = select(angle == 0, undefined_derivative, y - turn);
    return static_cast<T>(select(negative, reflected, y));
}

// The derivative of digamma. Within 1e-14 of the value
template <std::floating_point T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T trigamma(T x) {
    constexpr int steps = gamma_steps<T>;
    double const at = x;
    bool const negative = at < 0;
    double z = select(negative, 1 - at, at), sum = 0;
    for (int step = 0; step < steps; ++step) {
        bool const small = z < steps;
        sum += select(small, 1 / (z * z), 0.0);
        z += select(small, 1.0, 0.0);
    }
    double const inverse = 1 / z, w = inverse * inverse;
    double const series = gamma_series<T>(w, -3617.0 / 510, 7.0 / 6, -691.0 / 2730, 5.0 / 66,
                                          -1.0 / 30, 1.0 / 42, -1.0 / 30, 1.0 / 6);
    double const y = sum + multiply_add(inverse * w, series, multiply_add(0.5, w, inverse));
    double const turn =
        std::numbers::pi / sine_of_few_turns(std::numbers::pi * (at - std::rint(at)));
    return static_cast<T>(select(negative, multiply_add(turn, turn, -y), y));
}

CASTNET_HD constexpr bool is_odd(double whole) {
    return whole - 2 * std::rint(whole / 2) != 0;
}

// The derivative of digamma of this order, 2 or more, at z, at least 0
CASTNET_HD constexpr double polygamma_from_zero(double order, double z) {
    double sum = 0; // of z^(-n - 1)
    for (int step = 0; step < 16; ++step) {
        bool const small = z < 16;
        sum += select(small, elementary::pow(z, -order - 1), 0.0);
        z += select(small, 1.0, 0.0);
    }
    // B_2k / (2k)!
    constexpr double factors[] = {1.0 / 12,          -1.0 / 720,
                                  1.0 / 30240,       -1.0 / 1209600,
                                  1.0 / 47900160,    -691.0 / 1307674368000,
                                  1.0 / 74724249600, -3617.0 / 10670622842880000.0};
    double const inverse = 1 / z;
    double term = order * inverse, series = multiply_add(0.5, term, 1.0);
    term *= (order + 1) * inverse;
    for (int k = 0; k < 8; ++k) { // n (n + 1) … (n + 2k + 1) / z^(2k + 2)
        series = multiply_add(factors[k], term, series);
        term *= (order + 2 * k + 2) * (order + 2 * k + 3) * inverse * inverse;
    }
    double const all = multiply_add(order, sum, elementary::pow(z, -order) * series);
    double const size = elementary::exp(elementary::lgamma(order)) * all;
    return select(is_odd(order), size, -size);
}

// The derivative n of digamma, for whole n from 1 on; else NaN. Within 1e-13 for n up to 10: of the
// value or, of negative x and even n, where it has zeros, of those at both sides of x.
template <std::floating_point T>
CASTNET_HD constexpr T polygamma(T n, T x) {
    if (n == 1) {
        return trigamma(x);
    }
    double const order = n, at = x;
    if (!(order > 1) || std::rint(order) != order) {
        return static_cast<T>(undefined_derivative);
    }
    if (!(at < 0)) {
        return static_cast<T>(polygamma_from_zero(order, at));
    }
    // It is, but for a factor, the sum of (x + k)^(-n - 1) for k = 0, 1, …: the terms of x + k
    // above 0 are those of polygamma at `above`; the others are, but for their signs, those at
    // `below` without those at 1 - x.
    double const rest = at - std::rint(at);
    double const above = rest < 0 ? 1 + rest : rest, below = rest < 0 ? -rest : 1 - rest;
    double const others = polygamma_from_zero(order, below) - polygamma_from_zero(order, 1 - at);
    double const positive = polygamma_from_zero(order, above);
    return static_cast<T>(is_odd(order) ? positive + others : positive - others);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
