// Hyperbolic functions as element-wise functions. (tanh is an activation.)
#pragma once

#include <castnet/core/hyperbolic.hpp>
#include <castnet/expr/function.hpp>
#include <castnet/expr/trigonometry.hpp>

namespace castnet {

template <>
struct function<fn::sinh> : derivative_reads<0b01> {
    static constexpr char const* name = "sinh";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::sinh(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return value_of<fn::cosh>(x);
    }
};

template <>
struct function<fn::cosh> : derivative_reads<0b01> {
    static constexpr char const* name = "cosh";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::cosh(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return value_of<fn::sinh>(x);
    }
};

template <>
struct function<fn::asinh> : derivative_reads<0b01> {
    static constexpr char const* name = "asinh";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::asinh(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return value_of<fn::rsqrt>(T(1) + x * x);
    }
};

template <>
struct function<fn::acosh> : derivative_reads<0b01> {
    static constexpr char const* name = "acosh";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::acosh(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return value_of<fn::rsqrt>(-one_minus_square(x));
    }
};

template <>
struct function<fn::atanh> : derivative_reads<0b01> {
    static constexpr char const* name = "atanh";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::atanh(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return T(1) / one_minus_square(x);
    }
};

} // namespace castnet
