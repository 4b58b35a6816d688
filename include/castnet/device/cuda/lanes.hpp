// Neighbouring elements of an array that a thread reads and writes at once, by accesses of 16
// bytes.
#pragma once

#include <castnet/core/bfloat16.hpp>

#include <cstdint>
#include <type_traits>

namespace castnet::cuda {

template <class T>
inline constexpr int lanes_of = 16 / int(sizeof(T));

// How so many elements of type S are accessed.
template <class S, int Lanes>
struct lane_access {
    static constexpr int all = Lanes * int(sizeof(S)), bytes = all < 16 ? all : 16;
    static constexpr int lanes = bytes / int(sizeof(S));
    static_assert(bytes % 4 == 0);

    struct alignas(bytes) [[gnu::may_alias]] words {
        std::uint32_t word[bytes / 4];
    };
};

// Eight numbers as they are stored.
using eight_bfloat16 = lane_access<bfloat16, 8>::words;

// Of two neighbours in a word.
template <class T>
CASTNET_HD T number_in(std::uint32_t two, int which) {
    return T(__builtin_bit_cast(float, which == 0 ? two << 16 : two & 0xffff0000U));
}
template <class T>
CASTNET_HD void unpack(eight_bfloat16 const& from, T (&to)[8]) {
    CASTNET_UNROLL
    for (int i = 0; i < 8; ++i) {
        to[i] = number_in<T>(from.word[i / 2], i % 2);
    }
}

// lane[i] = from[i], for elements of type T or bfloat16; the first address is a multiple of 16
// bytes, or of all that is read.
template <class S, class T, int Lanes>
CASTNET_HD void load_lanes(S const* from, T (&lane)[Lanes]) {
    using access = lane_access<S, Lanes>;
    CASTNET_UNROLL
    for (int first = 0; first < Lanes; first += access::lanes) {
        auto const w = *reinterpret_cast<typename access::words const*>(from + first);
        if constexpr (std::is_same_v<S, bfloat16>) {
            CASTNET_UNROLL
            for (int i = 0; i < access::lanes; ++i) {
                lane[first + i] = number_in<T>(w.word[i / 2], i % 2);
            }
        } else {
            __builtin_memcpy(lane + first, &w, access::bytes);
        }
    }
}

template <class S, class T, int Lanes>
CASTNET_HD void store_lanes(T const (&lane)[Lanes], S* to) {
    using access = lane_access<S, Lanes>;
    CASTNET_UNROLL
    for (int first = 0; first < Lanes; first += access::lanes) {
        typename access::words w;
        if constexpr (std::is_same_v<S, bfloat16>) {
            CASTNET_UNROLL
            for (int i = 0; i < access::lanes; i += 2) {
                w.word[i / 2] = two_bfloat16(static_cast<float>(lane[first + i]),
                                             static_cast<float>(lane[first + i + 1]));
            }
        } else {
            __builtin_memcpy(&w, lane + first, access::bytes);
        }
        *reinterpret_cast<typename access::words*>(to + first) = w;
    }
}
template <class S, class T>
CASTNET_HD void store_lanes(T const (&lane)[1], S* to) {
    *to = S(lane[0]);
}

} // namespace castnet::cuda
