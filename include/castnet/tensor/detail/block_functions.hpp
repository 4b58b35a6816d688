// Element-wise functions of whole blocks of numbers, which compilers make vectors of: those that a
// loop over single numbers does not compute in vectors, because each number may take another path.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/arctangent.hpp>
#include <castnet/core/error_function.hpp>
#include <castnet/core/hyperbolic.hpp>
#include <castnet/core/hypotenuse.hpp>
#include <castnet/core/power.hpp>
#include <castnet/core/remainder.hpp>
#include <castnet/core/sine.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/expr/trigonometry.hpp>

#include <bit>
#include <cstddef>

namespace castnet::detail {

// F of the numbers in x, and of plain numbers, in place: block_function<F>::take<Count>(x, …), or
// of those in x and in another block: take_pairs<Count>(x, y).
template <fn F>
struct block_function;

// f of the numbers in x, in vectors of Width and, at the end, in shorter ones. (nvcc refuses
// vectors in functions that are for devices, too.)
template <size_t Count, size_t Width, class T, class F>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void replace_in_vectors(T* x, F const& f) {
    using vector = typename cpu::vector_of<T, static_cast<int>(Width)>::type;
    constexpr size_t rest = Count % Width;
    for (size_t i = 0; i != Count - rest; i += Width) {
        auto& lanes = *reinterpret_cast<vector*>(x + i);
        lanes = f(lanes);
    }
    if constexpr (rest * sizeof(T) >= 16) {
        replace_in_vectors<rest, std::bit_floor(rest)>(x + Count - rest, f);
    } else {
        for (size_t i = Count - rest; i != Count; ++i) {
            x[i] = f(x[i]);
        }
    }
}
template <size_t Count, class T, class F>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void replace_by(T* x, F const& f) {
#ifdef __CUDACC__
    for (size_t i = 0; i != Count; ++i) {
        x[i] = f(x[i]);
    }
#else
    replace_in_vectors<Count, cpu::simd<T>::width>(x, f);
#endif
}

template <>
struct block_function<fn::sqrt> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x) {
        replace_by<Count>(x, [](auto lanes)
                                 __attribute__((always_inline)) { return square_root(lanes); });
    }
};

template <>
struct block_function<fn::rsqrt> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x) {
        replace_by<Count>(
            x, [](auto lanes) __attribute__((always_inline)) { return T(1) / square_root(lanes); });
    }
};

// The formula for few turns, or F of each number, where the block has others.
template <fn F, size_t Count, class T, class Formula>
CASTNET_ALWAYS_INLINE void take_turns(T* x, Formula const& few_turns) {
    using bits = elementary::float_bits<T>;
    constexpr auto limit = bits::of(elementary::few_turns<T>);
    typename bits::type beyond = 0; // its first bit (compilers do not take a bool in vectors)
    for (size_t i = 0; i != Count; ++i) {
        beyond |= limit - (bits::of(x[i]) & ~bits::sign);
    }
    if ((beyond & bits::sign) == 0) {
        for (size_t i = 0; i != Count; ++i) {
            x[i] = few_turns(x[i]);
        }
    } else {
        for (size_t i = 0; i != Count; ++i) {
            x[i] = function<F>::value(x[i]);
        }
    }
}

template <>
struct block_function<fn::sin> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x) {
        take_turns<fn::sin, Count>(x, [](T one) __attribute__((always_inline)) {
            return elementary::sine_of_few_turns(one);
        });
    }
};

template <>
struct block_function<fn::cos> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x) {
        take_turns<fn::cos, Count>(x, [](T one) __attribute__((always_inline)) {
            return elementary::cosine_of_few_turns(one);
        });
    }
};

template <>
struct block_function<fn::tan> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x) {
        take_turns<fn::tan, Count>(x, [](T one) __attribute__((always_inline)) {
            return elementary::sine_of_few_turns(one) / elementary::cosine_of_few_turns(one);
        });
    }
};

// f(x, sqrt(square(x))) of the numbers in x.
template <size_t Count, class T, class Square, class F>
CASTNET_ALWAYS_INLINE void take_with_root(T* x, Square const& square, F const& f) {
    alignas(64) T root[Count];
    for (size_t i = 0; i != Count; ++i) {
        root[i] = square(x[i]);
    }
    block_function<fn::sqrt>::take<Count>(root);
    for (size_t i = 0; i != Count; ++i) {
        x[i] = f(x[i], root[i]);
    }
}

template <>
struct block_function<fn::asin> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x) {
        take_with_root<Count>(
            x, [](T one) __attribute__((always_inline)) { return one_minus_square(one); },
            [](T sine, T cosine)
                __attribute__((always_inline)) { return elementary::atan2(sine, cosine); });
    }
};

template <>
struct block_function<fn::acos> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x) {
        take_with_root<Count>(
            x, [](T one) __attribute__((always_inline)) { return one_minus_square(one); },
            [](T cosine, T sine)
                __attribute__((always_inline)) { return elementary::atan2(sine, cosine); });
    }
};

template <>
struct block_function<fn::asinh> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x) {
        take_with_root<Count>(
            x,
            [](T one) __attribute__((always_inline)) { return elementary::one_plus_square(one); },
            [](T one, T root)
                __attribute__((always_inline)) { return elementary::asinh_with_root(one, root); });
    }
};

template <>
struct block_function<fn::acosh> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x) {
        take_with_root<Count>(
            x,
            [](T one) __attribute__((always_inline)) { return elementary::square_minus_one(one); },
            [](T one, T root)
                __attribute__((always_inline)) { return elementary::acosh_with_root(one, root); });
    }
};

template <>
struct block_function<fn::erfinv> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x) {
        take_with_root<Count>(
            x,
            [](T one) __attribute__((always_inline)) { return elementary::erfinv_argument(one); },
            [](T one, T root)
                __attribute__((always_inline)) { return elementary::erfinv_with_root(one, root); });
    }
};

// fmod(x[i], divisor(i)) of the numbers in x.
template <size_t Count, class T, class Divisor>
CASTNET_ALWAYS_INLINE void take_remainders(T* x, Divisor const& divisor) {
    using count = typename elementary::float_bits<T>::type; // as wide as the numbers, for vectors
    count few = 0; // (clang makes no vectors of a loop that joins conditions)
    for (size_t i = 0; i != Count; ++i) {
        few += count{elementary::has_few_multiples(x[i], divisor(i))};
    }
    if (few == Count) {
        for (size_t i = 0; i != Count; ++i) {
            x[i] = elementary::remainder_of_few(x[i], divisor(i));
        }
    } else {
        for (size_t i = 0; i != Count; ++i) {
            x[i] = elementary::fmod(x[i], divisor(i));
        }
    }
}

template <>
struct block_function<fn::fmod> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x, T divisor) {
        take_remainders<Count>(x, [=](size_t) { return divisor; });
    }
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take_pairs(T* x, T const* divisors) {
        take_remainders<Count>(x, [=](size_t i) { return divisors[i]; });
    }
};

template <>
struct block_function<fn::remainder> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x, T divisor) {
        block_function<fn::fmod>::take<Count>(x, divisor);
        for (size_t i = 0; i != Count; ++i) {
            x[i] = elementary::with_sign_of_divisor(x[i], divisor);
        }
    }
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take_pairs(T* x, T const* divisors) {
        block_function<fn::fmod>::take_pairs<Count>(x, divisors);
        for (size_t i = 0; i != Count; ++i) {
            x[i] = elementary::with_sign_of_divisor(x[i], divisors[i]);
        }
    }
};

// By way of doubles, in which squares of floats are exact.
template <>
struct block_function<fn::hypot> {
    template <size_t Count>
    CASTNET_ALWAYS_INLINE static void take_pairs(float* x, float const* y) {
        alignas(64) double root[Count];
        for (size_t i = 0; i != Count; ++i) {
            root[i] = elementary::sum_of_squares(x[i], y[i]);
        }
        block_function<fn::sqrt>::take<Count>(root);
        for (size_t i = 0; i != Count; ++i) {
            x[i] = static_cast<float>(root[i]);
        }
    }
};

template <>
struct block_function<fn::pow> {
    template <size_t Count, class T>
    CASTNET_ALWAYS_INLINE static void take(T* x, T exponent) {
        auto const take_power = [&](T power) __attribute__((always_inline)) {
            for (size_t i = 0; i != Count; ++i) {
                x[i] = elementary::pow(x[i], power);
            }
        };
        if (exponent == T(0.5)) {
            for (size_t i = 0; i != Count; ++i) {
                x[i] = elementary::for_square_root(x[i]);
            }
            block_function<fn::sqrt>::take<Count>(x);
        } else if (exponent == T(2)) { // loops over constant powers have vectors
            take_power(2);
        } else if (exponent == T(3)) {
            take_power(3);
        } else if (exponent == T(-1)) {
            take_power(-1);
        } else {
            take_power(exponent);
        }
    }
};

} // namespace castnet::detail
