// Random words of many counters at once, in vectors: those of philox (core/philox.hpp).
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/philox.hpp>
#include <castnet/core/target.hpp>
#include <castnet/cpu/vector.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace castnet::cpu::inline CASTNET_TARGET {

// The products of the lower halves of 64-bit lanes: one instruction, which clang makes of what is
// written and g++ does not.
template <class V>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE V product_of_halves(V a, V b) {
#if defined(__SSE2__) && !defined(__clang__)
    using halves = typename vector_of<int, sizeof(V) / sizeof(int)>::type;
    using product = typename vector_of<long long, sizeof(V) / sizeof(long long)>::type;
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

// The words of so many vectors of counters, of which none waits for the other. (Upper halves of
// lanes have what does not matter until the end.)
template <std::size_t Vectors>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void
philox_words_of_vectors(philox_key key, std::uint64_t stream, vec<std::uint64_t> first,
                        std::uint64_t* first_words, std::uint64_t* last_words) {
    using vector = vec<std::uint64_t>;
    constexpr std::size_t width = sizeof(vector) / sizeof(std::uint64_t);
    vector x[4][Vectors];
    CASTNET_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) {
        x[0][j] = first + j * width;
        x[1][j] = x[0][j] >> 32;
        x[2][j] = vector{} + stream;
        x[3][j] = x[2][j] >> 32;
    }
    CASTNET_UNROLL
    for (int round = 0; round < 10; ++round) {
        CASTNET_UNROLL
        for (std::size_t j = 0; j < Vectors; ++j) {
            vector const a = product_of_halves(x[0][j], vector{} + philox_factors[0]);
            vector const b = product_of_halves(x[2][j], vector{} + philox_factors[1]);
            x[0][j] = (b >> 32) ^ x[1][j] ^ std::uint64_t{key.k0};
            x[1][j] = b;
            x[2][j] = (a >> 32) ^ x[3][j] ^ std::uint64_t{key.k1};
            x[3][j] = a;
        }
        key = next_round(key);
    }
    constexpr std::uint64_t half = 0xFFFFFFFF;
    CASTNET_UNROLL
    for (std::size_t j = 0; j < Vectors; ++j) {
        vector const pairs[2] = {x[0][j] << 32 | (x[1][j] & half),
                                 x[2][j] << 32 | (x[3][j] & half)};
        std::memcpy(first_words + j * width, &pairs[0], sizeof(vector));
        std::memcpy(last_words + j * width, &pairs[1], sizeof(vector));
    }
}

// How many counters are computed side by side.
inline constexpr std::size_t philox_counters = 2 * sizeof(vec<std::uint64_t>) / 8;

// words[0][i] and words[1][i] are the four words of the counter {first + i, stream}, two by two,
// for the first `count` of them and what fills up their vectors.
template <std::size_t Most>
CASTNET_WIDE_VECTORS void philox_words(philox_key key, std::uint64_t stream, std::uint64_t first,
                                       std::size_t count, std::uint64_t (&words)[2][Most]) {
    constexpr std::size_t width = philox_counters / 2;
    static_assert(Most % philox_counters == 0);
    vec<std::uint64_t> lanes;
    for (std::size_t lane = 0; lane != width; ++lane) {
        lanes[lane] = first + lane;
    }
    std::size_t i = 0;
    for (; i + width < count; i += philox_counters) {
        philox_words_of_vectors<2>(key, stream, lanes + i, &words[0][i], &words[1][i]);
    }
    if (i < count) {
        philox_words_of_vectors<1>(key, stream, lanes + i, &words[0][i], &words[1][i]);
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
