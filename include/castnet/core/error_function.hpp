// Error function, its complement and its inverse.
#pragma once

#include <castnet/core/exponential.hpp>
#include <castnet/core/float_bits.hpp>
#include <castnet/core/logarithm.hpp>
#include <castnet/core/polynomial.hpp>
#include <castnet/core/select.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

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

// rounded - a^2, where `rounded` is a * a.
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T error_of_square(T a, T rounded) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return multiply_add(-a, a, rounded);
#else
    using bits = float_bits<T>; // half of the digits, whose square is exact
    constexpr auto low = (typename bits::type{1} << (bits::mantissa_size / 2 + 1)) - 1;
    T const high = bits::number(bits::of(a) & ~low);
    return (rounded - high * high) - (a - high) * (a + high);
#endif
}

// 1 - erf(x), within 5 ulp also where erf(x) is nearly 1: exp(-x^2) p / (1 + 2 x) of x >= 0, where
// p is a polynomial of (x - c) / (x + c), after W. J. Cody, "Rational Chebyshev approximations for
// the error function" (1969), and M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of
// (1 + 2x) exp(x^2) erfc x" (1981).
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T erfc(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        constexpr bool single = sizeof(T) == sizeof(float);
        constexpr T last = single ? T(10.5) : T(27.5); // from here on 0
        constexpr T c = single ? T(2) : T(4);
        T const beyond = magnitude(x), a = select(beyond > last, last, beyond);
        T const t = (a - c) / (a + c);
        T p;
        if constexpr (single) {
            p = polynomial(t, -0.000399446136F, -0.00122799317F, 0.00131331338F, 0.00863009059F,
                           -0.00806014721F, -0.0542038824F, 0.164055426F, -0.166031461F,
                           -0.0927639851F, 1.27697839F);
        } else {
            p = polynomial(t, -1.7882294778733949e-9, -1.3611500518668433e-8,
                           -7.8317302310058693e-9, 1.1507420093954591e-7, 6.2814074503680093e-8,
                           -8.3469230756620822e-7, 3.0137312890290607e-7, 5.717471510865423e-6,
                           -1.1224888139039133e-5, -2.4402953329292982e-5, 0.00015062231608581027,
                           -0.00019925557653041299, -0.00075777336757390542, 0.0050319697695289607,
                           -0.016197734053837411, 0.037167515560874091, -0.066330365812112028,
                           0.093732834996901064, -0.10103906603632044, 0.068097054254733999,
                           0.015379652102620087, -0.13962111684056286, 1.2329951186255525);
        }
        T const scaled = p / multiply_add(T(2), a, T(1));
        T const square = a * a, power = elementary::exp(-square) * scaled;
        T const above = multiply_add(power, error_of_square(a, square), power);
        return select(x < T(0), T(2) - above, above);
    }
#endif
    return std::erfc(x);
}

// Inverse of erf within 4 ulp, of y and the root of this argument: infinite at -1 and 1, NaN
// beyond. By polynomials after M. Giles, "Approximating the erfinv function" (GPU Computing Gems 2,
// 2011).
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T erfinv_argument(T y) {
    T const b = magnitude(y);
    return -elementary::log((T(1) - b) * (T(1) + b));
}
template <Binary T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T erfinv_with_root(T y, T root) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    T const argument = root * root;
    T ratio;
    if constexpr (sizeof(T) == sizeof(float)) {
        T const near = argument - T(2.5), far = root - T(3);
        T const of_near = polynomial(near, 2.85328159e-8F, 3.43725894e-7F, -3.52883094e-6F,
                                     -4.39677159e-6F, 0.000218602056F, -0.00125370754F,
                                     -0.00417770751F, 0.246640726F, 1.50140942F);
        T const of_far =
            polynomial(far, -0.000159790606F, 8.25348482e-5F, 0.00129226283F, -0.00365656204F,
                       0.0057655318F, -0.00762623566F, 0.00943504094F, 1.00167423F, 2.832977F);
        ratio = select(argument < T(5), of_near, of_far);
    } else {
        T const near = argument - T(3.125), far = root - T(3.25), farthest = root - T(5);
        T const of_near = polynomial(
            near, 3.3757627278839966e-21, -1.0090002261634284e-21, -3.5755026695822572e-19,
            1.1444076257251825e-18, 1.5759780469435468e-17, -1.3003898888464131e-16,
            -4.2865528948739365e-17, 6.5946990487842377e-15, -3.9989780142221179e-14,
            -8.1170080244414786e-14, 2.6303545886747207e-12, -1.2976958315642439e-11,
            -5.4142390063743281e-11, 1.0512183985305327e-9, -4.1126619774111853e-9,
            -2.9070382775172516e-8, 4.2347881907675062e-7, -1.3654691844343321e-6,
            -1.3882523395790549e-5, 0.0001867342080242559, -0.00074070253415395536,
            -0.0060336708714277539, 0.24015818242558827, 1.6536545626831027);
        T const of_far =
            polynomial(far, -1.6187473706681351e-8, 6.341595904561996e-10, 1.3394244826078791e-7,
                       -2.7118631004610497e-7, -3.0266213143256011e-8, 1.4985456816008913e-6,
                       -3.9840770141063294e-6, 2.9258243397005912e-6, 1.2464433000552971e-5,
                       -4.7319015638134973e-5, 6.8287248836852019e-5, 2.4031263147455168e-5,
                       -0.00035503783083434653, 0.00095328936307332868, -0.0016882755342511874,
                       0.0024914420970184644, -0.0037512085082629697, 0.005370914553570905,
                       1.0052589676941657, 3.0838856104922206);
        T const of_farthest = polynomial(
            farthest, 4.3192692004714162e-11, -2.3861636853918774e-11, -4.397134714722311e-10,
            1.4943744944950506e-9, -3.4661598772429507e-9, 7.6377827646020141e-9,
            -1.5261230431877599e-8, 2.9128825095615819e-8, -6.7552175232454752e-8,
            2.2901400831234218e-7, -9.9303083640617628e-7, 4.5260601999702694e-6,
            -1.9681770426967223e-5, 7.5995277337457639e-5, -0.00021503011985064621,
            -0.00013871931835126284, 1.0103004648645459, 4.8499064014085842);
        ratio = select(argument < T(6.25), of_near, select(root < T(4), of_far, of_farthest));
    }
    return select(root < infinity, ratio * y,
                  select(root == infinity, with_sign_of(infinity, y), root));
}

template <class T>
CASTNET_HD constexpr T erfinv(T y) {
#ifdef __CUDA_ARCH__
    return ::erfinv(y);
#else
    using number = std::conditional_t<sizeof(T) == sizeof(float), float, double>;
    auto const x = static_cast<number>(y);
    return static_cast<T>(erfinv_with_root(x, std::sqrt(erfinv_argument(x))));
#endif
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
