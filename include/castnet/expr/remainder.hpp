// Remainders as element-wise functions. Exact, but for that of -1e-30 by 1, say, which is 1; of
// integers by 0 they are 0, as NumPy's.
#pragma once

#include <castnet/core/remainder.hpp>
#include <castnet/expr/function.hpp>

namespace castnet {

// a - n b with the quotient n rounded toward 0, so that it has the sign of a: C's and PyTorch's
// fmod
template <>
struct function<fn::fmod> : integer_derivative_reads<0, 0b111> {
    static constexpr char const* name = "fmod";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T a, T b) {
        return elementary::fmod(a, b);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T a, T b, T y) {
        return I == 0 ? T(1) : (y - a) / b;
    }
};

// a - n b with the quotient n rounded down, so that it has the sign of b: NumPy's and PyTorch's
// remainder, Python's %
template <>
struct function<fn::remainder> : integer_derivative_reads<0, 0b111> {
    static constexpr char const* name = "remainder";
    template <class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T value(T a, T b) {
        return elementary::with_sign_of_divisor(elementary::fmod(a, b), b);
    }
    template <int I, class T>
    CASTNET_HD CASTNET_ALWAYS_INLINE static constexpr T derivative(T a, T b, T y) {
        return I == 0 ? T(1) : (y - a) / b;
    }
};

} // namespace castnet
