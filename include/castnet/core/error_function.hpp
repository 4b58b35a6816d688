// Error function, its complement and its inverse.
#pragma once

#include <castnet/core/exponential.hpp>
#include <castnet/core/logarithm.hpp>
#include <castnet/core/polynomial.hpp>
#include <castnet/core/select.hpp>

#include <cmath>
#include <limits>

namespace castnet::elementary::inline CASTNET_VECTORS {

// Within 3 ulp: 1 - w^4, where w, the fourth root of the complementary function, falls so slowly
// that one polynomial, minimax by Remez' algorithm, is enough for all arguments. No relative error
// grows from 1 - w to 1 - w^2 = 2 (1 - w) - (1 - w)^2.
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T erf(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        constexpr bool single = sizeof(T) == sizeof(float);
        constexpr T last = single ? T(4) : T(6); // from here on 1
        T const a = magnitude(x), t = select(a > last, last, a), z = t * t;
        // in two halves, of which neither waits for the other
        T odd, even;
        if constexpr (single) {
            odd = polynomial(z, -1.05234328e-5F, -0.000489442292F, 0.00800759608F, -0.0744028452F,
                             0.477466716F);
            even = polynomial(z, 0.000138091622F, -0.000968477304F, 0.00467363484F, -0.0618719848F,
                              0.128379143F);
        } else {
            odd = polynomial(z, -3.3964611142647575e-17, -5.8979280181059148e-14,
                             -1.3124896252268934e-11, -8.6505015930886524e-10,
                             -2.1263383431939735e-8, -1.9165449924544416e-7, -9.8512018290058956e-8,
                             3.1912993966808224e-6, -2.1822400568419751e-6, -0.00048676315493455524,
                             0.0077849630507829316, -0.074505788039639024, 0.47746482927568988);
            even = polynomial(z, 2.06471632980695e-15, 1.051956717206655e-12,
                              1.2156062724517584e-10, 4.8245338004522088e-9, 7.354199726386334e-8,
                              3.2387713565582904e-7, -1.176944612150237e-6, -4.2553641048473024e-6,
                              0.0001177692512369626, -0.00086702641890720472, 0.0048880518308634848,
                              -0.06184892531301348, 0.12837916709551256);
        }
        T const y = multiply_add(t, multiply_add(t, odd, even), t); // 4 (1 - w)
        T const of_square = multiply_add(T(-0.125) * y, y, y);      // 2 (1 - w^2)
        T const of_all = multiply_add(T(-0.25) * of_square, of_square, of_square);
        return with_sign_of(of_all, x);
    }
#endif
    return std::erf(x);
}

// 1 - erf(x), exact where erf(x) is nearly 1; the C library's
template <class T>
CASTNET_HD constexpr T erfc(T x) {
    return std::erfc(x);
}

// Inverse of erf within 4 ulp; infinite at -1 and 1, NaN beyond. Winitzki's approximation (2008)
// and steps of Halley, each with three times the digits, which compare with the function that is
// the smaller of erf and erfc.
template <class T>
CASTNET_HD constexpr T erfinv(T y) {
#ifdef __CUDA_ARCH__
    return ::erfinv(y);
#else
    constexpr T a = T(0.147), two_over_pi_a = T(4.3307467500154);
    constexpr T two_over_root_pi = T(1.1283791670955126);
    T const b = magnitude(y);
    T const log_rest = b > T(0.5) ? elementary::log((T(1) - b) * (T(1) + b)) // without rounding
                                  : elementary::log1p(-b * b);
    T const half = two_over_pi_a + T(0.5) * log_rest, c = log_rest / a;
    T x = std::sqrt(-c / (std::sqrt(half * half - c) + half));
    for (int step = 0; step < (sizeof(T) == sizeof(float) ? 1 : 3); ++step) {
        T const above = b > T(0.5) ? (T(1) - b) - std::erfc(x) : std::erf(x) - b;
        T const newton = above / (two_over_root_pi * std::exp(-x * x));
        x -= newton / (T(1) + x * newton);
    }
    return with_sign_of(b == T(1) ? std::numeric_limits<T>::infinity() : x, y);
#endif
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
