// Exponentials, logarithms, roots and powers as element-wise functions. Derivatives use
// the value y where they can: then the input need not be kept for the backward pass.
#pragma once

#include <castnet/core/cube_root.hpp>
#include <castnet/core/error_function.hpp>
#include <castnet/core/exponential.hpp>
#include <castnet/core/hypotenuse.hpp>
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
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return y;
    }
};

// 2 to the power of x
template <>
struct function<fn::exp2> : derivative_reads<0b10> {
    static constexpr char const* name = "exp2";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::exp2(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return T(0.69314718055994531) * y;
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
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return y + T(1);
    }
};

// the natural logarithm
template <>
struct function<fn::log> : derivative_reads<0b01> {
    static constexpr char const* name = "log";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::log(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return T(1) / x;
    }
};

// log(1 + x), exact near 0
template <>
struct function<fn::log1p> : derivative_reads<0b01> {
    static constexpr char const* name = "log1p";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::log1p(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return T(1) / (T(1) + x);
    }
};

template <>
struct function<fn::log2> : derivative_reads<0b01> {
    static constexpr char const* name = "log2";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::log2(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return T(1.4426950408889634) / x;
    }
};

template <>
struct function<fn::log10> : derivative_reads<0b01> {
    static constexpr char const* name = "log10";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::log10(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return T(0.43429448190325183) / x;
    }
};

// x log(y), and 0 where x is 0, as entropies have it; so is the derivative by x where y is 0, too
template <>
struct function<fn::xlogy> : derivative_reads<0b011, 0b011> {
    static constexpr char const* name = "xlogy";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x, T y) {
        return select((x == T(0)) & (y == y), T(0), T(x * elementary::log(y)));
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T y, T) {
        if constexpr (I == 0) {
            return select((x == T(0)) & (y <= T(0)), T(0), T(value_of<fn::log>(y)));
        } else {
            return x / y;
        }
    }
};

template <>
struct function<fn::sqrt> : derivative_reads<0b10> {
    static constexpr char const* name = "sqrt";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return std::sqrt(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return T(0.5) / y;
    }
};

// 1 / sqrt(x)
template <>
struct function<fn::rsqrt> : derivative_reads<0b10> {
    static constexpr char const* name = "rsqrt";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return T(1) / std::sqrt(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return T(-0.5) * y * y * y;
    }
};

// the cube root, of negative numbers, too
template <>
struct function<fn::cbrt> : derivative_reads<0b10> {
    static constexpr char const* name = "cbrt";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::cube_root(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return T(1) / (T(3) * y * y);
    }
};

// sqrt(a^2 + b^2), without overflow; with derivative 0 where both are 0
template <>
struct function<fn::hypot> : derivative_reads<0b101, 0b110> {
    static constexpr char const* name = "hypot";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T a, T b) {
        return elementary::hypot(a, b);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T a, T b, T y) {
        if constexpr (I == 0) {
            return select(y == T(0), T(0), T(a / y));
        } else {
            return select(y == T(0), T(0), T(b / y));
        }
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
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T base, T exponent, T y) {
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
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return T(1.1283791670955126) * value_of<fn::exp>(T(-x * x));
    }
};

// 1 - erf(x), exact where erf(x) is nearly 1
template <>
struct function<fn::erfc> : derivative_reads<0b01> {
    static constexpr char const* name = "erfc";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::erfc(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return T(-1.1283791670955126) * value_of<fn::exp>(T(-x * x));
    }
};

// the inverse of erf: infinite at -1 and 1, NaN beyond; 0.886… = sqrt(pi) / 2
template <>
struct function<fn::erfinv> : derivative_reads<0b10> {
    static constexpr char const* name = "erfinv";
    template <class T>
    CASTNET_HD static constexpr T value(T x) {
        return elementary::erfinv(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return T(0.88622692545275801) * value_of<fn::exp>(T(y * y));
    }
};

// log(x / (1 - x)), the inverse of sigmoid: infinite at 0 and 1, NaN beyond
template <>
struct function<fn::logit> : derivative_reads<0b01> {
    static constexpr char const* name = "logit";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::log(x / (T(1) - x));
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        return T(1) / (x * (T(1) - x));
    }
};

} // namespace castnet
