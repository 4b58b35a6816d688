// Random words of many counters at once, in vectors: those of philox (core/philox.hpp).
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/philox.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/target.hpp>
#include <castnet/cpu/vector.hpp>

#include <cstdint>
#include <cstring>

namespace castnet::detail::inline CASTNET_VECTORS {

// The products of the lower halves of 64-bit lanes: one instruction, which clang makes of what is
// written and g++ does not.
template <class V>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE V product_of_halves(V a, V b) {
#if defined(__SSE2__) && !defined(__clang__)
    using halves = typename cpu::vector_of<int, sizeof(V) / sizeof(int)>::type;
    using product = typename cpu::vector_of<long long, sizeof(V) / sizeof(long long)>::type;
    auto const x = __builtin_bit_cast(halves, a), y = __builtin_bit_cast(halves, b);
    product all;
#ifdef __AVX512F__
    if constexpr (sizeof(V) == 64) {
        all = __builtin_ia32_pmuludq512_mask(x, y, product{}, 0xFF);
    } else
#endif
#ifdef __AVX2__
        if constexpr (sizeof(V) == 32) {
        all = __builtin_ia32_pmuludq256(x, y);
    } else
#endif
    {
        all = __builtin_ia32_pmuludq128(x, y);
    }
    return __builtin_bit_cast(V, all);
#else
    constexpr std::uint64_t half = 0xFFFFFFFF;
    return (a & half) * (b & half);
#endif
}

// How many counters are taken at least: two vectors of them, of which neither waits for the other.
inline constexpr size_t few_random_words = 2 * sizeof(cpu::vec<std::uint64_t>) / 8;

// words[0][i] and words[1][i] are the four words of the counter {first + i, stream}, two by two.
// (Upper halves of lanes have what does not matter until the end.)
template <size_t Count>
CASTNET_WIDE_VECTORS void random_words(philox_key key, std::uint64_t stream, std::uint64_t first,
                                       std::uint64_t (&words)[2][Count]) {
    using vector = cpu::vec<std::uint64_t>;
    constexpr size_t width = few_random_words / 2;
    static_assert(Count % few_random_words == 0);
    vector lanes;
    for (size_t lane = 0; lane != width; ++lane) {
        lanes[lane] = first + lane;
    }
    for (size_t i = 0; i != Count; i += few_random_words) {
        vector x[4][2];
        CASTNET_UNROLL
        for (size_t j = 0; j < 2; ++j) {
            x[0][j] = lanes + (i + j * width);
            x[1][j] = x[0][j] >> 32;
            x[2][j] = vector{} + stream;
            x[3][j] = x[2][j] >> 32;
        }
        philox_key round = key;
        CASTNET_UNROLL
        for (int k = 0; k < 10; ++k) {
            CASTNET_UNROLL
            for (size_t j = 0; j < 2; ++j) {
                vector const a = product_of_halves(x[0][j], vector{} + philox_factors[0]);
                vector const b = product_of_halves(x[2][j], vector{} + philox_factors[1]);
                x[0][j] = (b >> 32) ^ x[1][j] ^ std::uint64_t{round.k0};
                x[1][j] = b;
                x[2][j] = (a >> 32) ^ x[3][j] ^ std::uint64_t{round.k1};
                x[3][j] = a;
            }
            round = next_round(round);
        }
        constexpr std::uint64_t half = 0xFFFFFFFF;
        CASTNET_UNROLL
        for (size_t j = 0; j < 2; ++j) {
            vector const pairs[2] = {x[0][j] << 32 | (x[1][j] & half),
                                     x[2][j] << 32 | (x[3][j] & half)};
            std::memcpy(&words[0][i + j * width], &pairs[0], sizeof(vector));
            std::memcpy(&words[1][i + j * width], &pairs[1], sizeof(vector));
        }
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
