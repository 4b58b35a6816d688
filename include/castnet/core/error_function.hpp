// Error function.
#pragma once

#include <castnet/core/exponential.hpp>

namespace castnet::elementary::inline CASTNET_VECTORS {

// Within 2 ulp. Two minimax polynomials (Remez' algorithm): x + x p(x^2) near 0, and beyond it
// 1 - exp(q(|x|)), with q the logarithm of the complementary function.
template <class T>
CASTNET_HD constexpr T erf(T x) {
#ifndef __CUDA_ARCH__
    if constexpr (Vectorized<T>) {
        constexpr bool single = sizeof(T) == sizeof(float);
        constexpr T border = single ? T(0.875) : T(1);
        constexpr T last = single ? T(4) : T(6); // from here on 1
        T const a = magnitude(x), t = select(a > last, last, a), z = x * x;
        T p, q;
        if constexpr (single) {
            p = polynomial(z, -0.000622242107F, 0.0050358735F, -0.0267939568F, 0.112825245F,
                           -0.376125574F, 0.128379151F);
            q = polynomial(t, 0.000199901187F, -0.00308199413F, 0.0223810226F, -0.104250185F,
                           -0.636820674F, -1.12788939F, -0.000144212638F);
        } else {
            p = polynomial(z, -7.8011888740977512e-10, 1.3722976265924504e-08,
                           -1.6209175911748696e-07, 1.6447517677871873e-06, -1.4924744663335489e-05,
                           0.00012055295320494294, -0.00085483259896967576, 0.0052239776074234677,
                           -0.026866170643276219, 0.11283791670945253, -0.37612638903183548,
                           0.12837916709551256);
            q = polynomial(t, -4.8647652024444796e-12, 2.0202162902221442e-10,
                           -3.8897929326627698e-09, 4.5930855466354006e-08, -3.6954806596617066e-07,
                           2.1147061140269558e-06, -8.5783970495304964e-06, 2.2531649667037498e-05,
                           -1.9519780542208244e-05, -0.00013656213466646164, 0.00077305541408954632,
                           -0.0019189606176208199, 0.00041355067139442665, 0.018988031985078615,
                           -0.10270228455795689, -0.6366440569835955, -1.1283739912940549,
                           -5.1328425906646963e-07);
        }
        return select(a < border, multiply_add(x, p, x), with_sign_of(T(1) - exp(q), x));
    }
#endif
    return std::erf(x);
}

} // namespace castnet::elementary::inline CASTNET_VECTORS
