// Factors of products as micro-kernels read them: numbers of the type of their sums, or pairs of
// bfloat16, each of which is two steps of the depth.
//
// A product of two pairs is added to a sum in float: first that of their second numbers, then that
// of the first ones, as vdpbf16ps does. Without AVX512_BF16 the same is computed by multiplications
// of vectors of float, with the same bits, since the product of two bfloat16 is exact in float.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/bfloat16.hpp>
#include <castnet/cpu/vector.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet::cpu::inline CASTNET_TARGET {

struct bfloat16_pair {
    std::uint32_t bits; // the first number in the lower half
};

template <int Lanes>
struct vector_of<bfloat16_pair, Lanes> : vector_of<std::uint32_t, Lanes> {};

// `multiplier`: what a factor becomes that is multiplied with vectors.
template <class F>
struct factor_traits {
    using sum = F;
    using multiplier = F;
    static constexpr int numbers = 1;
};
template <>
struct factor_traits<bfloat16_pair> {
    using sum = float;
#ifdef __AVX512BF16__
    using multiplier = vec<bfloat16_pair>;
#else
    using multiplier = bfloat16_pair;
#endif
    static constexpr int numbers = 2;
};
template <class F>
using sum_type = typename factor_traits<F>::sum;
// Steps of the depth in one factor, and the factors of a depth; 0 follows an odd last number.
template <class F>
inline constexpr int numbers_in = factor_traits<F>::numbers;
template <class F>
constexpr std::ptrdiff_t steps_of(std::ptrdiff_t depth) {
    return (depth + numbers_in<F> - 1) / numbers_in<F>;
}

template <class F>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline typename factor_traits<F>::multiplier
broadcast(F const& x) {
#ifdef __AVX512BF16__
    if constexpr (numbers_in<F> > 1) {
        return x.bits - vec<F>{};
    } else
#endif
    {
        return x;
    }
}

// sum + left * right for a tile of Rows factors times Vectors.
template <int Rows, int Vectors, class F>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline vec<sum_type<F>>
plus_product(vec<sum_type<F>> sum, typename factor_traits<F>::multiplier const& left,
             vec<F> const& right) {
    if constexpr (numbers_in<F> == 1) {
        return plus_product<Rows, Vectors>(sum, left, right);
    } else {
#ifdef __AVX512BF16__
        asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
        return sum;
#else
        sum = plus_product<Rows, Vectors>(sum, __builtin_bit_cast(float, left.bits & 0xffff0000U),
                                          __builtin_bit_cast(vec<float>, right & 0xffff0000U));
        return plus_product<Rows, Vectors>(sum, __builtin_bit_cast(float, left.bits << 16),
                                           __builtin_bit_cast(vec<float>, right << 16));
#endif
    }
}

// Which two numbers make a pair: neighbours in a row, or those of a column in two rows.
enum class pairing : std::uint8_t { neighbours, rows };

#ifdef __AVX512BF16__
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline vec<bfloat16_pair>
rounded_neighbours(vec<float> const& first, vec<float> const& second) {
    vec<bfloat16_pair> both;
    asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(both) : "v"(first), "v"(second));
    return both;
}
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline vec<bfloat16_pair>
rounded_rows(vec<float> const& first, vec<float> const& second) {
    constexpr std::uint32_t next = 0x10001; // numbers of 16 bits: i, 16 + i
    vec<bfloat16_pair> const order =
        0x100000 + next * vec<bfloat16_pair>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    vec<bfloat16_pair> both = rounded_neighbours(first, second);
    asm("vpermw %0, %1, %0" : "+v"(both) : "v"(order));
    return both;
}
#else
// In the upper halves; the lower ones are anything.
[[gnu::always_inline]] inline vec<bfloat16_pair> rounded_halves(vec<float> const& x) {
    auto const bits = __builtin_bit_cast(vec<bfloat16_pair>, x);
    vec<bfloat16_pair> const up = bits + 0x7fffU + (bits >> 16 & 1U);
    return x != x ? bits | 0x400000U : up;
}
[[gnu::always_inline]] inline vec<bfloat16_pair> rounded_rows(vec<float> const& first,
                                                              vec<float> const& second) {
    return rounded_halves(first) >> 16 | (rounded_halves(second) & 0xffff0000U);
}
inline vec<bfloat16_pair> rounded_neighbours(vec<float> const& first, vec<float> const& second) {
    constexpr int half = simd<float>::width / 2;
    vec<bfloat16_pair> both{};
    for (int i = 0; i < half; ++i) {
        both[i] = two_bfloat16(first[2 * i], first[2 * i + 1]);
        both[half + i] = two_bfloat16(second[2 * i], second[2 * i + 1]);
    }
    return both;
}
#endif

// A vector of factors, of one or two vectors of numbers.
template <pairing P, class F>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline vec<F>
factors_of(vec<sum_type<F>> const (&x)[size_t(numbers_in<F>)]) {
    if constexpr (numbers_in<F> == 1) {
        return x[0];
    } else if constexpr (P == pairing::neighbours) {
        return rounded_neighbours(x[0], x[1]);
    } else {
        return rounded_rows(x[0], x[1]);
    }
}

// The numbers that products see: themselves, or rounded.
template <class F>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline vec<sum_type<F>>
as_factor(vec<sum_type<F>> const& x) {
    if constexpr (numbers_in<F> == 1) {
        return x;
    } else {
        return __builtin_bit_cast(vec<float>, rounded_rows(vec<float>{}, x));
    }
}
template <class F>
[[gnu::always_inline]] inline sum_type<F> as_factor(sum_type<F> x) {
    if constexpr (numbers_in<F> == 1) {
        return x;
    } else {
        return float(bfloat16(x));
    }
}

// Rounds neighbouring numbers; 0 follows an odd last one.
[[gnu::noinline]] CASTNET_WIDE_VECTORS inline void
round_neighbours(float const* from, std::ptrdiff_t count, bfloat16_pair* to) {
    constexpr std::ptrdiff_t width = simd<float>::width;
    for (; count >= 2 * width; count -= 2 * width, from += 2 * width, to += width) {
        *reinterpret_cast<vec<bfloat16_pair>*>(to) =
            rounded_neighbours(*reinterpret_cast<vec<float> const*>(from),
                               *reinterpret_cast<vec<float> const*>(from + width));
    }
    for (; count > 0; count -= 2, from += 2) {
        *to++ = {two_bfloat16(from[0], count > 1 ? from[1] : 0)};
    }
}
// Rounds two rows; zeros where one is nullptr.
[[gnu::noinline]] CASTNET_WIDE_VECTORS inline void
round_rows(float const* first, float const* second, std::ptrdiff_t count, bfloat16_pair* to) {
    constexpr std::ptrdiff_t width = simd<float>::width;
    std::ptrdiff_t i = 0;
    for (; i + width <= count; i += width) {
        vec<float> const zero{};
        *reinterpret_cast<vec<bfloat16_pair>*>(to + i) =
            rounded_rows(first ? *reinterpret_cast<vec<float> const*>(first + i) : zero,
                         second ? *reinterpret_cast<vec<float> const*>(second + i) : zero);
    }
    for (; i < count; ++i) {
        to[i] = {two_bfloat16(first ? first[i] : 0, second ? second[i] : 0)};
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
