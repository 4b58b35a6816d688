// Smooth activations. Definitions are those of PyTorch, in forms that neither overflow nor cancel;
// derivatives use the value y where they can, so that the input need not be kept. Those of which a
// program has several, as gates are, are always inline: GCC would call them from the third on.
#pragma once

#include <castnet/core/error_function.hpp>
#include <castnet/core/exponential.hpp>
#include <castnet/core/logarithm.hpp>
#include <castnet/core/select.hpp>
#include <castnet/expr/math.hpp>

namespace castnet {

namespace detail {

// exp(-|x|), which does not overflow
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T decay(T x) {
    return value_of<fn::exp>(select(x < T(0), x, T(-x)));
}

} // namespace detail

// 1 / (1 + exp(-x))
template <>
struct function<fn::sigmoid> : derivative_reads<0b10> {
    static constexpr char const* name = "sigmoid";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::sigmoid(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return y * (T(1) - y);
    }
};

// log(sigmoid(x)); its derivative is 1 - sigmoid(x)
template <>
struct function<fn::log_sigmoid> : derivative_reads<0b10> {
    static constexpr char const* name = "log_sigmoid";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return select(x < T(0), x, T(0)) - elementary::log1p(detail::decay(x));
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return -value_of<fn::expm1>(y);
    }
};

// log(1 + exp(x)); its derivative is sigmoid(x)
template <>
struct function<fn::softplus> : derivative_reads<0b10> {
    static constexpr char const* name = "softplus";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return select(x < T(0), T(0), x) + elementary::log1p(detail::decay(x));
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return -value_of<fn::expm1>(T(-y));
    }
};

template <>
struct function<fn::tanh> : derivative_reads<0b10> {
    static constexpr char const* name = "tanh";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return elementary::tanh(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        return T(1) - y * y;
    }
};

// x / (1 + |x|)
template <>
struct function<fn::softsign> : derivative_reads<0b10> {
    static constexpr char const* name = "softsign";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return x / (T(1) + (x < T(0) ? -x : x));
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T, T y) {
        T const rest = T(1) - select(y < T(0), T(-y), y); // 1 / (1 + |x|)
        return rest * rest;
    }
};

// x * sigmoid(x), also called swish
template <>
struct function<fn::silu> : derivative_reads<0b01> {
    static constexpr char const* name = "silu";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return x * function<fn::sigmoid>::value(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        T const s = value_of<fn::sigmoid>(x);
        return s * (T(1) + x * (T(1) - s));
    }
};

namespace detail {

// tanh(softplus(x)), rational in exp(-|x|)
template <class T>
CASTNET_HD constexpr T tanh_softplus(T x) {
    auto const negative = x < T(0);
    T const e = decay(x);
    T const odd = select(negative, e * (e + T(2)), T(1) + T(2) * e);
    return odd / (odd + select(negative, T(2), T(2) * e * e));
}

} // namespace detail

// x * tanh(softplus(x)), Misra 2019
template <>
struct function<fn::mish> : derivative_reads<0b01> {
    static constexpr char const* name = "mish";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return x * detail::tanh_softplus(x);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        T const t = detail::tanh_softplus(x);
        return t + x * (T(1) - t * t) * value_of<fn::sigmoid>(x);
    }
};

// x times the normal distribution function of x, Hendrycks & Gimpel 2016
// 0.707… = 1 / sqrt(2), 0.398… = 1 / sqrt(2 pi)
template <>
struct function<fn::gelu> : derivative_reads<0b01> {
    static constexpr char const* name = "gelu";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return T(0.5) * x * (T(1) + elementary::erf(x * T(0.70710678118654752)));
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        T const below = T(0.5) * (T(1) + value_of<fn::erf>(T(x * T(0.70710678118654752))));
        return below + x * T(0.39894228040143268) * value_of<fn::exp>(T(T(-0.5) * x * x));
    }
};

// gelu with its distribution function approximated by tanh, as gelu(approximate="tanh")
// 0.797… = sqrt(2 / pi)
template <>
struct function<fn::gelu_tanh> : derivative_reads<0b01> {
    static constexpr char const* name = "gelu_tanh";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return T(0.5) * x *
               (T(1) + elementary::tanh(T(0.79788456080286536) * (x + T(0.044715) * x * x * x)));
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T x, T) {
        T const t = value_of<fn::tanh>(T(T(0.79788456080286536) * (x + T(0.044715) * x * x * x)));
        return T(0.5) * (T(1) + t) +
               T(0.5) * x * (T(1) - t * t) * T(0.79788456080286536) * (T(1) + T(0.134145) * x * x);
    }
};

} // namespace castnet
