// Philox4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3" (SC 2011): a random number is a function of (key, counter), so it does not depend on
// the thread, replica or process that asks for it.
#pragma once

#include <castnet/core/annotations.hpp>

#include <cstdint>

namespace castnet {

struct philox_block {
    std::uint32_t x0, x1, x2, x3;

    CASTNET_HD constexpr std::uint32_t operator[](unsigned lane) const {
        return lane == 0 ? x0 : lane == 1 ? x1 : lane == 2 ? x2 : x3;
    }

    friend constexpr bool operator==(philox_block const&, philox_block const&) = default;
};

struct philox_key {
    std::uint32_t k0, k1;
};

CASTNET_HD constexpr philox_key key_of(std::uint64_t seed) {
    return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

inline constexpr std::uint64_t philox_factors[2] = {0xD2511F53U, 0xCD9E8D57U};

CASTNET_HD constexpr philox_key next_round(philox_key key) {
    return {key.k0 + 0x9E3779B9U, key.k1 + 0xBB67AE85U};
}

// Four random 32-bit words for this counter and key; ten rounds. (Inline, so that loops compute
// several at once, in vectors: clang would call it.)
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr philox_block philox(philox_block counter,
                                                               philox_key key) {
    CASTNET_UNROLL
    for (int i = 0; i < 10; ++i) {
        std::uint64_t const a = philox_factors[0] * counter.x0;
        std::uint64_t const b = philox_factors[1] * counter.x2;
        counter = {static_cast<std::uint32_t>(b >> 32) ^ counter.x1 ^ key.k0,
                   static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32) ^ counter.x3 ^ key.k1,
                   static_cast<std::uint32_t>(a)};
        key = next_round(key);
    }
    return counter;
}

// A random word as a real number in [0, 1): the upper 24 bits, exact in every floating type.
template <class T>
CASTNET_HD constexpr T uniform(std::uint32_t word) {
    return static_cast<T>(static_cast<std::int32_t>(word >> 8)) * static_cast<T>(1.0 / 16777216.0);
}

} // namespace castnet
