// Element-wise functions of blocks: those that a loop over single numbers does not compute in
// vectors, because each number may take another path. A block of the operand is computed first,
// then the function of all of it, then the rest of the expression reads that.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/arctangent.hpp>
#include <castnet/core/hyperbolic.hpp>
#include <castnet/core/hypotenuse.hpp>
#include <castnet/core/power.hpp>
#include <castnet/core/remainder.hpp>
#include <castnet/core/sine.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/expr/trigonometry.hpp>
#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/detail/store.hpp>

#include <tuple>
#include <type_traits>

namespace castnet {

template <fn F, class T, Shape S, class... X>
class elementwise_expression;

namespace detail {

// F of the numbers in x, and of plain numbers, in place: block_function<F>::take<Count>(x, …), or
// of those in x and in another block: take_pairs<Count>(x, y).
template <fn F>
struct block_function;

// f of the numbers in x, vector by vector, and then one by one. (nvcc refuses vectors in functions
// that are for devices, too.)
template <size_t Count, class T, class F>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void replace_by(T* x, F const& f) {
    size_t i = 0;
#ifndef __CUDACC__
    constexpr size_t width = cpu::simd<T>::width;
    for (; i != Count - Count % width; i += width) {
        auto& lanes = *reinterpret_cast<cpu::vec<T>*>(x + i);
        lanes = f(lanes);
    }
#endif
    for (; i != Count; ++i) {
        x[i] = f(x[i]);
    }
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

// Whether an expression is such a function, or has one.
template <class X>
inline constexpr bool is_of_blocks = false;
template <fn F, class T, class S, class X, Number... More>
inline constexpr bool is_of_blocks<elementwise_expression<F, T, S, X, More...>> =
    elementary::Vectorized<T> &&
    requires(T* x, More... more) { block_function<F>::template take<1>(x, T(more)...); };
template <fn F, class T, class S, TensorExpression X, TensorExpression Y>
inline constexpr bool is_of_blocks<elementwise_expression<F, T, S, X, Y>> =
    elementary::Vectorized<T> &&
    requires(T* x) { block_function<F>::template take_pairs<1>(x, x); };
template <class X>
inline constexpr bool has_blocks = false;
template <fn F, class T, class S, class... X>
inline constexpr bool has_blocks<elementwise_expression<F, T, S, X...>> =
    is_of_blocks<elementwise_expression<F, T, S, X...>> || (has_blocks<X> || ...);

// How a loop over a result of shape S reads operands: by places in memory order, or along a row.
template <class S>
struct flat_reader {
    template <class X>
    static constexpr bool repeats = X::shape_type::count != S::count;

    template <class X>
    CASTNET_ALWAYS_INLINE auto operator()(X const& x, size_t i) const {
        return flat_element<S>(x, i);
    }
};
template <class... Index>
struct row_reader {
    template <class X>
    static constexpr bool repeats =
        X::shape_type::rank == 0 || X::shape_type::extent[X::shape_type::rank - 1] == 1;

    std::tuple<Index...> row;

    template <class X>
    CASTNET_ALWAYS_INLINE auto operator()(X const& x, size_t i) const {
        return apply_inline([&](auto... at) __attribute__((
                                always_inline)) { return broadcast_element(x, at..., i); },
                            row);
    }
};

template <size_t Count, class X, class Read, class Use>
CASTNET_ALWAYS_INLINE void with_block(X const& x, Read const& read, size_t first, Use const& use);

// Calls use(elements…), in which elements(k) is element first + k of an operand, for k < Count.
template <size_t Count, size_t I = 0, class Operands, class Read, class Use, class... Elements>
CASTNET_ALWAYS_INLINE void with_operands(Operands const& x, Read const& read, size_t first,
                                         Use const& use, Elements const&... elements) {
    if constexpr (I == std::tuple_size_v<Operands>) {
        use(elements...);
    } else {
        with_block<Count>(std::get<I>(x), read, first,
                          [&](auto const& next) __attribute__((always_inline)) {
                              with_operands<Count, I + 1>(x, read, first, use, elements..., next);
                          });
    }
}

// Whether an operand's elements lie in memory.
template <class X>
inline constexpr bool has_elements = requires(X const& x) { x.data(); };

// out[k] = element first + k of a function of blocks, for k < Count
template <size_t Count, fn F, class T, class S, class X, class... More, class Read>
CASTNET_ALWAYS_INLINE void take_block(elementwise_expression<F, T, S, X, More...> const& x,
                                      Read const& read, size_t first, T* out) {
    apply_inline(
        [&](X const& of, More... more) __attribute__((always_inline)) {
            with_block<Count>(of, read, first,
                              [&](auto const& elements) __attribute__((always_inline)) {
                                  store<has_elements<X>, Count>(out, elements);
                              });
            block_function<F>::template take<Count>(out, static_cast<T>(more)...);
        },
        x.operands());
}

template <size_t Count, fn F, class T, class S, TensorExpression X, TensorExpression Y, class Read>
CASTNET_ALWAYS_INLINE void take_block(elementwise_expression<F, T, S, X, Y> const& x,
                                      Read const& read, size_t first, T* out) {
    alignas(64) T second[Count];
    auto const keep = [&]<class Operand>(Operand const& of, T* to) __attribute__((always_inline)) {
        with_block<Count>(of, read, first,
                          [&](auto const& elements) __attribute__((always_inline)) {
                              store<has_elements<Operand>, Count>(to, elements);
                          });
    };
    keep(std::get<1>(x.operands()), second); // which may be where the result goes
    keep(std::get<0>(x.operands()), out);
    block_function<F>::template take_pairs<Count>(out, second);
}

template <size_t Count, class X, class Read, class Use>
CASTNET_ALWAYS_INLINE void with_block(X const& x, Read const& read, size_t first, Use const& use) {
    if constexpr (!has_blocks<X>) {
        use([&](size_t k) __attribute__((always_inline)) { return read(x, first + k); });
    } else if constexpr (Read::template repeats<X>) {
        auto const once = read(x, first);
        use([&](size_t) __attribute__((always_inline)) { return once; });
    } else if constexpr (is_of_blocks<X>) {
        alignas(64) typename X::value_type room[Count];
        take_block<Count>(x, read, first, room);
        use([&](size_t k) __attribute__((always_inline)) { return room[k]; });
    } else {
        with_operands<Count>(
            x.operands(), read, first, [&](auto const&... of) __attribute__((always_inline)) {
                use([&](size_t k) __attribute__((always_inline)) { return X::value(of(k)...); });
            });
    }
}

// out[i] = element i of x as `read` reads it, for i < Count
template <size_t Count, class T, class X, class Read>
CASTNET_ALWAYS_INLINE void store_elements(T* out, X const& x, Read const& read) {
    if constexpr (has_blocks<X>) {
        constexpr size_t block = 512, rest = Count % block;
        auto const store_block = [&]<size_t Length>(size_t first,
                                                    shape<Length>) __attribute__((always_inline)) {
            if constexpr (is_of_blocks<X> && std::is_same_v<T, typename X::value_type> &&
                          !Read::template repeats<X>) {
                take_block<Length>(x, read, first, out + first);
            } else {
                with_block<Length>(x, read, first,
                                   [&](auto const& elements) __attribute__((always_inline)) {
                                       store<false, Length>(out + first, elements);
                                   });
            }
        };
        for (size_t first = 0; first != Count - rest; first += block) {
            store_block(first, shape<block>{});
        }
        if constexpr (rest > 0) {
            store_block(Count - rest, shape<rest>{});
        }
    } else {
        store<has_elements<X>, Count>(
            out, [&](size_t i) __attribute__((always_inline)) { return read(x, i); });
    }
}

} // namespace detail

} // namespace castnet
