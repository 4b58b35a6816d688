// Logarithm of the gamma function and its derivatives as element-wise functions, of which
// likelihoods of counts, rates and proportions are made.
#pragma once

#include <castnet/core/gamma.hpp>
#include <castnet/expr/function.hpp>

namespace castnet {

// log |gamma(x)|
template <>
struct function<fn::lgamma> : derivative_reads<0b01> {
    static constexpr char const* name = "lgamma";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::lgamma(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return value_of<fn::digamma>(x);
    }
};

// the derivative of lgamma
template <>
struct function<fn::digamma> : derivative_reads<0b01> {
    static constexpr char const* name = "digamma";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::digamma(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return value_of<fn::polygamma>(T(1), x);
    }
};

// polygamma(n, x), the derivative n of digamma, for whole n from 1 on
template <>
struct function<fn::polygamma> : derivative_reads<no_gradient, 0b011> {
    static constexpr char const* name = "polygamma";
    template <class T>
    CASTNET_HD static constexpr T value(T n, T x) {
        return elementary::polygamma(n, x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T n, T x, T) {
        return value_of<fn::polygamma>(n + T(1), x);
    }
};

} // namespace castnet
