// Trigonometry as element-wise functions.
#pragma once

#include <castnet/core/arctangent.hpp>
#include <castnet/core/sine.hpp>
#include <castnet/expr/function.hpp>

#include <cmath>

namespace castnet {

// 1 - x^2, exact near 1
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T one_minus_square(T x) {
    return (T(1) - x) * (T(1) + x);
}

template <>
struct function<fn::sin> : derivative_reads<0b01> {
    static constexpr char const* name = "sin";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::sin(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return value_of<fn::cos>(x);
    }
};

template <>
struct function<fn::cos> : derivative_reads<0b01> {
    static constexpr char const* name = "cos";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::cos(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return -value_of<fn::sin>(x);
    }
};

template <>
struct function<fn::tan> : derivative_reads<0b10> {
    static constexpr char const* name = "tan";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::sin(x) / elementary::cos(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return T(1) + y * y;
    }
};

template <>
struct function<fn::asin> : derivative_reads<0b01> {
    static constexpr char const* name = "asin";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::atan2(x, std::sqrt(one_minus_square(x)));
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return value_of<fn::rsqrt>(one_minus_square(x));
    }
};

template <>
struct function<fn::acos> : derivative_reads<0b01> {
    static constexpr char const* name = "acos";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::atan2(std::sqrt(one_minus_square(x)), x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return -value_of<fn::rsqrt>(one_minus_square(x));
    }
};

template <>
struct function<fn::atan> : derivative_reads<0b01> {
    static constexpr char const* name = "atan";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::atan(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return T(1) / (T(1) + x * x);
    }
};

// the angle of the point (x, y), from -pi to pi: atan2(y, x)
template <>
struct function<fn::atan2> : derivative_reads<0b011, 0b011> {
    static constexpr char const* name = "atan2";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T y, T x) {
        return elementary::atan2(y, x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T y, T x, T) {
        return (I == 0 ? x : -y) / (x * x + y * y);
    }
};

} // namespace castnet
