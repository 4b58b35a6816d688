// Error function.
#pragma once

#include <castnet/core/exponential.hpp>

namespace castnet::elementary::inline CASTNET_VECTORS {

// Within 3 ulp. 1 - exp(q(|x|)), with q a minimax polynomial for the logarithm of the complementary
// function: of floats by Lawson's algorithm, so that it is exact near 0, too; of doubles by Remez'
// algorithm, with another one near 0, x + x p(x^2).
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T erf(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (std::is_same_v<T, float>) {
        constexpr T last = 3.95F; // from here on 1
        T const a = magnitude(x), square = a * a;
        // in parts, of which few wait for others (Estrin's scheme)
        T const q = polynomial(square * square,
                               polynomial(square, polynomial(a, 9.25733912e-06F, -0.000117651274F),
                                          polynomial(a, 0.000632874202F, -0.00166709954F)),
                               polynomial(square, polynomial(a, 0.000160473064F, 0.0191530194F),
                                          polynomial(a, -0.102777816F, -0.636619389F)));
        T const log_rest = multiply_add(a, -1.12837923F, square * q);
        auto const e = reduce_exponent<float_bits<T>::bias, true>(log_rest);
        T const scale = float_bits<T>::power_of_two(e.n);
        T const y = multiply_add(-scale, e.r_and_tail(), T(1) - scale);
        return with_sign_of(select(a > last, T(1), y), x);
    } else if constexpr (Vectorized<T>) {
        constexpr T border = 1, last = 6; // from here on 1
        T const a = magnitude(x), t = select(a > last, last, a), z = x * x;
        T const p =
            polynomial(z, -7.8011888740977512e-10, 1.3722976265924504e-08, -1.6209175911748696e-07,
                       1.6447517677871873e-06, -1.4924744663335489e-05, 0.00012055295320494294,
                       -0.00085483259896967576, 0.0052239776074234677, -0.026866170643276219,
                       0.11283791670945253, -0.37612638903183548, 0.12837916709551256);
        T const q =
            polynomial(t, -4.8647652024444796e-12, 2.0202162902221442e-10, -3.8897929326627698e-09,
                       4.5930855466354006e-08, -3.6954806596617066e-07, 2.1147061140269558e-06,
                       -8.5783970495304964e-06, 2.2531649667037498e-05, -1.9519780542208244e-05,
                       -0.00013656213466646164, 0.00077305541408954632, -0.0019189606176208199,
                       0.00041355067139442665, 0.018988031985078615, -0.10270228455795689,
                       -0.6366440569835955, -1.1283739912940549, -5.1328425906646963e-07);
        return select(a < border, multiply_add(x, p, x), with_sign_of(T(1) - exp(q), x));
    }
#endif
    return std::erf(x);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
