// Arithmetic as element-wise functions.
#pragma once

#include <castnet/core/float_bits.hpp>
#include <castnet/core/select.hpp>
#include <castnet/expr/function.hpp>

#include <cmath>
#include <type_traits>

namespace castnet {

template <>
struct function<fn::add> : integer_derivative_reads<0, 0> {
    static constexpr char const* name = "add";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        return a + b;
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T, T) {
        return T(1);
    }
};

template <>
struct function<fn::subtract> : integer_derivative_reads<0, 0> {
    static constexpr char const* name = "subtract";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        return a - b;
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T, T) {
        return I == 0 ? T(1) : T(-1);
    }
};

template <>
struct function<fn::multiply> : integer_derivative_reads<0b10, 0b01> {
    static constexpr char const* name = "multiply";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        return a * b;
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T a, T b, T) {
        return I == 0 ? b : a;
    }
};

template <>
struct function<fn::divide> : integer_derivative_reads<0b010, 0b110> {
    static constexpr char const* name = "divide";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        return a / b;
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T b, T y) {
        return I == 0 ? T(1) / b : -y / b;
    }
};

template <>
struct function<fn::negate> : integer_derivative_reads<0> {
    static constexpr char const* name = "negate";
    template <class T>
    CASTNET_HD static constexpr T value(T a) {
        return -a;
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T, T) {
        return T(-1);
    }
};

// |a|; derivative 0 at 0, as in PyTorch.
template <>
struct function<fn::absolute> : integer_derivative_reads<0b1> {
    static constexpr char const* name = "abs";
    template <class T>
    CASTNET_HD static constexpr T value(T a) {
        if constexpr (std::is_integral_v<T>) { // of which compilers know this form
            return a < T(0) ? T(-a) : a;
        } else if constexpr (elementary::Binary<T>) {
#ifdef __CUDA_ARCH__
            return std::fabs(a); // a part of the instruction that reads it
#else
            return elementary::magnitude(a);
#endif
        } else {
            return select(a < T(0), T(-a), a);
        }
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T a, T) {
        return select(a > T(0), T(1), select(a < T(0), T(-1), T(0)));
    }
};

template <>
struct function<fn::sign> : integer_derivative_reads<no_gradient> {
    static constexpr char const* name = "sign";
    template <class T>
    CASTNET_HD static constexpr T value(T a) {
        return select(a > T(0), T(1), select(a < T(0), T(-1), T(0)));
    }
};

template <>
struct function<fn::square> : integer_derivative_reads<0b1> {
    static constexpr char const* name = "square";
    template <class T>
    CASTNET_HD static constexpr T value(T a) {
        return a * a;
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T a, T) {
        return T(2) * a;
    }
};

// The smaller of two, NaN if one of them is; at a tie both get half of the gradient, as in PyTorch.
template <>
struct function<fn::minimum> : integer_derivative_reads<0b11, 0b11> {
    static constexpr char const* name = "minimum";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        if constexpr (std::is_integral_v<T>) {
            return a < b ? a : b;
        } else {
            T const least = b < a ? b : a; // one instruction, also of vectors
            return b != b ? b : least;
        }
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T a, T b, T) {
        return select(a == b, T(0.5), select(I == 0 ? a < b : b < a, T(1), T(0)));
    }
};

// The larger of two, NaN if one of them is; at a tie both get half of the gradient, as in PyTorch.
template <>
struct function<fn::maximum> : integer_derivative_reads<0b11, 0b11> {
    static constexpr char const* name = "maximum";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        if constexpr (std::is_integral_v<T>) {
            return a < b ? b : a;
        } else {
            T const most = a < b ? b : a; // one instruction, also of vectors
            return b != b ? b : most;
        }
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T a, T b, T) {
        return select(a == b, T(0.5), select(I == 0 ? a > b : b > a, T(1), T(0)));
    }
};

// a * b + c
template <>
struct function<fn::multiply_add> : integer_derivative_reads<0b010, 0b001, 0> {
    static constexpr char const* name = "multiply_add";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b, T c) {
        return a * b + c;
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T a, T b, T, T) {
        return I == 0 ? b : I == 1 ? a : T(1);
    }
};

// a + weight * (b - a), as torch.lerp(a, b, weight)
template <>
struct function<fn::lerp> : integer_derivative_reads<0b100, 0b100, 0b011> {
    static constexpr char const* name = "lerp";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b, T weight) {
        return a + weight * (b - a);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T a, T b, T weight, T) {
        return I == 0 ? T(1) - weight : I == 1 ? weight : b - a;
    }
};

// The number itself, as a constant for differentiation: PyTorch's detach(), Keras' stop_gradient.
template <>
struct function<fn::stop_gradient> : integer_derivative_reads<no_gradient> {
    static constexpr char const* name = "stop_gradient";
    template <class T>
    CASTNET_HD static constexpr T value(T a) {
        return a;
    }
};

} // namespace castnet
