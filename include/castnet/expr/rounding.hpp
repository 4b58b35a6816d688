// Rounding to whole numbers, and tests for NaN and infinity, which return 1 or 0. They have no
// gradient.
#pragma once

#include <castnet/core/float_bits.hpp>
#include <castnet/core/select.hpp>
#include <castnet/expr/function.hpp>

#include <cmath>
#include <type_traits>

namespace castnet {

// the largest whole number that is not above a
template <>
struct function<fn::floor> : integer_derivative_reads<no_gradient> {
    static constexpr char const* name = "floor";
    template <class T>
    CASTNET_HD static constexpr T value(T a) {
        if constexpr (std::is_integral_v<T>) {
            return a;
        } else {
            T const nearest = elementary::nearest_whole(a); // (GCC has no vectors of std::floor.)
            return nearest - select(nearest > a, T(1), T(0));
        }
    }
};

// the smallest whole number that is not below a
template <>
struct function<fn::ceil> : integer_derivative_reads<no_gradient> {
    static constexpr char const* name = "ceil";
    template <class T>
    CASTNET_HD static constexpr T value(T a) {
        if constexpr (std::is_integral_v<T>) {
            return a;
        } else {
            T const nearest = elementary::nearest_whole(a);
            return std::copysign(nearest + select(nearest < a, T(1), T(0)), a); // -0 of -0.5
        }
    }
};

// the nearest whole number, the even one of two, as in NumPy and PyTorch
template <>
struct function<fn::round> : integer_derivative_reads<no_gradient> {
    static constexpr char const* name = "round";
    template <class T>
    CASTNET_HD static constexpr T value(T a) {
        if constexpr (std::is_integral_v<T>) {
            return a;
        } else {
            return elementary::nearest_whole(a);
        }
    }
};

// whether a is NaN, also with -ffast-math
template <>
struct function<fn::is_nan> : integer_derivative_reads<no_gradient> {
    static constexpr char const* name = "isnan";
    template <class T>
    CASTNET_HD static constexpr T value(T a) {
        if constexpr (elementary::Binary<T>) {
            using bits = elementary::float_bits<T>;
            constexpr auto infinity = ~bits::sign & ~bits::mantissa;
            return select((bits::of(a) & ~bits::sign) > infinity, T(1), T(0));
        } else {
            return select(a != a, T(1), T(0));
        }
    }
};

// whether a is neither NaN nor infinite, also with -ffast-math
template <>
struct function<fn::is_finite> : integer_derivative_reads<no_gradient> {
    static constexpr char const* name = "isfinite";
    template <class T>
    CASTNET_HD static constexpr T value(T a) {
        if constexpr (elementary::Binary<T>) {
            using bits = elementary::float_bits<T>;
            constexpr auto infinity = ~bits::sign & ~bits::mantissa;
            return select((bits::of(a) & ~bits::sign) < infinity, T(1), T(0));
        } else {
            return select(a - a == T(0), T(1), T(0));
        }
    }
};

} // namespace castnet
