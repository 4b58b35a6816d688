// Piecewise linear and exponential activations: the ReLU family and the "hard" forms. Definitions
// and derivatives at the kinks are those of PyTorch. Each of them lets NaN through.
#pragma once

#include <castnet/core/exponential.hpp>
#include <castnet/core/select.hpp>
#include <castnet/expr/function.hpp>

namespace castnet {

namespace detail {

// The numbers of Klambauer et al., "Self-normalizing neural networks" (2017)
inline constexpr double selu_scale = 1.0507009873554804934193349852946;
inline constexpr double selu_alpha = 1.6732632423543772848170429916717;

template <class T>
CASTNET_HD constexpr T clamp(T x, T low, T high) {
    return select(x < low, low, select(x > high, high, x));
}

} // namespace detail

// max(x, 0)
template <>
struct function<fn::relu> : derivative_reads<0b10> {
    static constexpr char const* name = "relu";
    template <class T>
    CASTNET_HD static constexpr T value(T x) {
        return select(x < T(0), T(0), x);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T y) {
        return select(y > T(0), T(1), T(0));
    }
};

// min(max(x, 0), 6)
template <>
struct function<fn::relu6> : derivative_reads<0b10> {
    static constexpr char const* name = "relu6";
    template <class T>
    CASTNET_HD static constexpr T value(T x) {
        return detail::clamp(x, T(0), T(6));
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T y) {
        return select((y > T(0)) & (y < T(6)), T(1), T(0));
    }
};

// x where positive, slope * x elsewhere; any slope
template <>
struct function<fn::leaky_relu> : derivative_reads<0b011, no_gradient> {
    static constexpr char const* name = "leaky_relu";
    template <class T>
    CASTNET_HD static constexpr T value(T x, T slope) {
        return select(x > T(0), x, slope * x);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T x, T slope, T) {
        return select(x > T(0), T(1), slope);
    }
};

// x where positive, alpha * (exp(x) - 1) elsewhere; alpha must be positive
template <>
struct function<fn::elu> : derivative_reads<0b110, no_gradient> {
    static constexpr char const* name = "elu";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x, T alpha) {
        return select(x > T(0), x, alpha * elementary::expm1(x));
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T alpha, T y) {
        return select(y > T(0), T(1), y + alpha);
    }
};

// scale * elu(x, alpha), with fixed scale and alpha
template <>
struct function<fn::selu> : derivative_reads<0b10> {
    static constexpr char const* name = "selu";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T x) {
        return T(detail::selu_scale) *
               select(x > T(0), x, T(detail::selu_alpha) * elementary::expm1(x));
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T y) {
        return T(detail::selu_scale) * select(y > T(0), T(1), T(detail::selu_alpha)) +
               select(y > T(0), T(0), y);
    }
};

// min(max(x + 3, 0), 6) / 6
template <>
struct function<fn::hard_sigmoid> : derivative_reads<0b10> {
    static constexpr char const* name = "hard_sigmoid";
    template <class T>
    CASTNET_HD static constexpr T value(T x) {
        return detail::clamp(x + T(3), T(0), T(6)) / T(6);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T y) {
        return select((y > T(0)) & (y < T(1)), T(1) / T(6), T(0));
    }
};

// min(max(x, -1), 1)
template <>
struct function<fn::hard_tanh> : derivative_reads<0b10> {
    static constexpr char const* name = "hard_tanh";
    template <class T>
    CASTNET_HD static constexpr T value(T x) {
        return detail::clamp(x, T(-1), T(1));
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T y) {
        return select((y > T(-1)) & (y < T(1)), T(1), T(0));
    }
};

// min(max(x, low), high) of constants. (The derivative reads x and no value, which may be rounded.)
template <>
struct function<fn::clip> : derivative_reads<0b111, no_gradient, no_gradient> {
    static constexpr char const* name = "clip";
    template <class T>
    CASTNET_HD static constexpr T value(T x, T low, T high) {
        T const raised = select(x < low, low, x);
        return select(raised > high, high, raised);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T x, T low, T high, T) {
        return select((x > low) & (x < high), T(1), T(0));
    }
};

// x * hard_sigmoid(x)
template <>
struct function<fn::hard_silu> : derivative_reads<0b01> {
    static constexpr char const* name = "hard_silu";
    template <class T>
    CASTNET_HD static constexpr T value(T x) {
        return x * function<fn::hard_sigmoid>::value(x);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T x, T) {
        return select(x <= T(-3), T(0), select(x >= T(3), T(1), x / T(3) + T(0.5)));
    }
};

} // namespace castnet
