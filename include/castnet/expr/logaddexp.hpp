// log(exp(a) + exp(b)), a sum of probabilities whose logarithms are known, as an element-wise
// function.
#pragma once

#include <castnet/expr/activation.hpp>
#include <castnet/expr/arithmetic.hpp>

namespace castnet {

// The greater of a and b, plus log(1 + exp(-|a - b|)), which does not overflow
template <>
struct function<fn::logaddexp> : derivative_reads<0b011, 0b011> {
    static constexpr char const* name = "logaddexp";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T a, T b) {
        T const most = value_of<fn::maximum>(a, b);
        return most + elementary::log1p(detail::decay(difference(a, b)));
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T a, T b, T) {
        return value_of<fn::sigmoid>(I == 0 ? difference(a, b) : difference(b, a));
    }

private:
    template <class T>
    CASTNET_HD static constexpr T difference(T a, T b) {
        return select(a == b, T(0), T(a - b)); // of infinities, too
    }
};

} // namespace castnet
