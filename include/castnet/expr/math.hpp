// Exponentials, logarithms and powers as element-wise functions. Derivatives use
// the value y where they can: then the input need not be kept for the backward pass.
#pragma once

#include <castnet/core/error_function.hpp>
#include <castnet/core/exponential.hpp>
#include <castnet/core/logarithm.hpp>
#include <castnet/core/power.hpp>
#include <castnet/core/select.hpp>
#include <castnet/expr/function.hpp>

#include <cmath>

namespace castnet {

template <>
struct function<fn::exp> : derivative_reads<0b10> {
    static constexpr char const* name = "exp";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::exp(x);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T y) {
        return y;
    }
};

// exp(x) - 1, exact near 0
template <>
struct function<fn::expm1> : derivative_reads<0b10> {
    static constexpr char const* name = "expm1";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::expm1(x);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T y) {
        return y + T(1);
    }
};

// the natural logarithm
template <>
struct function<fn::log> : derivative_reads<0b01> {
    static constexpr char const* name = "log";
    template <class T>
    CASTNET_HD static constexpr T value(T x) {
        return elementary::log(x);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T x, T) {
        return T(1) / x;
    }
};

// log(1 + x), exact near 0
template <>
struct function<fn::log1p> : derivative_reads<0b01> {
    static constexpr char const* name = "log1p";
    template <class T>
    CASTNET_HD static constexpr T value(T x) {
        return elementary::log1p(x);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T x, T) {
        return T(1) / (T(1) + x);
    }
};

template <>
struct function<fn::sqrt> : derivative_reads<0b10> {
    static constexpr char const* name = "sqrt";
    template <class T>
    CASTNET_HD static constexpr T value(T x) {
        return std::sqrt(x);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T y) {
        return T(0.5) / y;
    }
};

// 1 / sqrt(x)
template <>
struct function<fn::rsqrt> : derivative_reads<0b10> {
    static constexpr char const* name = "rsqrt";
    template <class T>
    CASTNET_HD static constexpr T value(T x) {
        return T(1) / std::sqrt(x);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T y) {
        return T(-0.5) * y * y * y;
    }
};

// As in PyTorch, 0 to a power of at least 0 has derivative 0 by the power, and anything to the
// power of 0 has derivative 0 by the base.
template <>
struct function<fn::pow> : derivative_reads<0b011, 0b101> {
    static constexpr char const* name = "pow";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T base, T exponent) {
        return elementary::pow(base, exponent);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T base, T exponent, T y) {
        if constexpr (I == 0) {
            return select(exponent == T(0), T(0),
                          T(exponent * value_of<fn::pow>(base, T(exponent - T(1)))));
        } else {
            return select((base == T(0)) & (y <= T(1)), T(0), T(y * value_of<fn::log>(base)));
        }
    }
};

// the error function; 1.128… = 2 / sqrt(pi)
template <>
struct function<fn::erf> : derivative_reads<0b01> {
    static constexpr char const* name = "erf";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::erf(x);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T x, T) {
        return T(1.1283791670955126) * value_of<fn::exp>(T(-x * x));
    }
};

} // namespace castnet
