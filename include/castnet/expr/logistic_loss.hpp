// Logistic loss of a logit, the element-wise part of binary cross-entropy (nn/losses.hpp).
#pragma once

#include <castnet/expr/activation.hpp>

namespace castnet {

// -target * log(sigmoid(x)) - (1 - target) * log(1 - sigmoid(x)): log(1 + exp(-|x|)), plus |x|
// times the target's probability of the other outcome; so an infinite logit of the right sign has
// the loss 0.
template <>
struct function<fn::logistic_loss> : derivative_reads<0b011, 0b001> {
    static constexpr char const* name = "logistic_loss";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x, T target) {
        T const wrong = select(x > T(0), T(1), T(0)) - target;
        return select(wrong == T(0), T(0), wrong * x) + elementary::log1p(detail::decay(x));
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T target, T) {
        return I == 0 ? T(value_of<fn::sigmoid>(x) - target) : T(-x);
    }
};

} // namespace castnet
