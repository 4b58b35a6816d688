// Comparisons, which return 1 or 0 and have no gradient, and selection between two values.
#pragma once

#include <castnet/core/select.hpp>
#include <castnet/expr/function.hpp>

#include <type_traits>

namespace castnet {

// 1 or 0. (g++ narrows that of small integers, which are compared as int, but no masks of select.)
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T truth_value(bool condition) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(condition);
    } else {
        return select(condition, T(1), T(0));
    }
}

template <>
struct function<fn::less> : integer_derivative_reads<no_gradient, no_gradient> {
    static constexpr char const* name = "less";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        return truth_value<T>(a < b);
    }
};

template <>
struct function<fn::less_equal> : integer_derivative_reads<no_gradient, no_gradient> {
    static constexpr char const* name = "less_equal";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        return truth_value<T>(a <= b);
    }
};

template <>
struct function<fn::greater> : integer_derivative_reads<no_gradient, no_gradient> {
    static constexpr char const* name = "greater";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        return truth_value<T>(a > b);
    }
};

template <>
struct function<fn::greater_equal> : integer_derivative_reads<no_gradient, no_gradient> {
    static constexpr char const* name = "greater_equal";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        return truth_value<T>(a >= b);
    }
};

template <>
struct function<fn::equal> : integer_derivative_reads<no_gradient, no_gradient> {
    static constexpr char const* name = "equal";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        return truth_value<T>(a == b);
    }
};

template <>
struct function<fn::not_equal> : integer_derivative_reads<no_gradient, no_gradient> {
    static constexpr char const* name = "not_equal";
    template <class T>
    CASTNET_HD static constexpr T value(T a, T b) {
        return truth_value<T>(a != b);
    }
};

// a where the condition is not 0, b where it is
template <>
struct function<fn::where> : integer_derivative_reads<no_gradient, 0b001, 0b001> {
    static constexpr char const* name = "where";
    template <class T>
    CASTNET_HD static constexpr T value(T condition, T a, T b) {
        return select(condition != T(0), a, b);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T condition, T, T, T) {
        return select(condition != T(0), T(I == 1 ? 1 : 0), T(I == 1 ? 0 : 1));
    }
};

} // namespace castnet
