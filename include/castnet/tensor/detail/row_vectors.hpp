// A row of a matrix in vectors, as many as the compiler knows.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/cpu/vector.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

namespace castnet::detail::inline CASTNET_VECTORS {

// A row of N elements in vectors. What lies beyond them does not matter: so whole vectors are read
// and written, but for the last row of a matrix.
template <size_t N, class T>
struct row_vectors {
    static constexpr size_t width = // no longer than needed
        std::min(std::bit_ceil(N), static_cast<size_t>(cpu::simd<T>::width));
    static constexpr size_t count = (N + width - 1) / width;
    static constexpr size_t rest = N - (count - 1) * width, more = width - rest;

    using vector = typename cpu::vector_of<T, static_cast<int>(width)>::type;
    vector at[count];

    // (No constexpr constructor: with --expt-relaxed-constexpr, nvcc 13.0 crashes at its vectors.)
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS row_vectors() : at{} {}

    // The same number in all places.
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS void fill(T number) {
        CASTNET_UNROLL
        for (size_t j = 0; j < count; ++j) {
            at[j] = number - vector{}; // also -0
        }
    }
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS void load(T const* from, bool whole) {
        CASTNET_UNROLL
        for (size_t j = 0; j + 1 < count; ++j) {
            at[j] = *reinterpret_cast<vector const*>(from + j * width);
        }
        from += (count - 1) * width;
        if (whole || more == 0) {
            at[count - 1] = *reinterpret_cast<vector const*>(from);
        } else {
            CASTNET_UNROLL
            for (size_t i = 0; i < rest; ++i) {
                at[count - 1][i] = from[i];
            }
        }
    }
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS void store(T* to, bool whole) const {
        CASTNET_UNROLL
        for (size_t j = 0; j + 1 < count; ++j) {
            *reinterpret_cast<vector*>(to + j * width) = at[j];
        }
        to += (count - 1) * width;
        if (whole || more == 0) {
            *reinterpret_cast<vector*>(to) = at[count - 1];
        } else {
            std::memcpy(to, &at[count - 1], rest * sizeof(T));
        }
    }
};

#ifndef __CUDACC__
inline constexpr bool repeats_lanes = true;
#else // (nvcc 13.0 crashes at packs in a vector)
inline constexpr bool repeats_lanes = false;
#endif

// Each of the numbers of a vector N times.
template <size_t N, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void repeat_lanes(T const* from, T* to) {
    constexpr size_t width = size_t{cpu::simd<T>::width};
    using vector = cpu::vec<T>;
    vector const all = *reinterpret_cast<vector const*>(from);
    auto const store = [&]<size_t... I>(T* out, auto at,
                                        std::index_sequence<I...>) __attribute__((always_inline)) {
        *reinterpret_cast<vector*>(out) = vector{all[(decltype(at)::value * width + I) / N]...};
    };
    [&]<size_t... V>(std::index_sequence<V...>) __attribute__((always_inline)) {
        (store(to + V * width, std::integral_constant<size_t, V>{},
               std::make_index_sequence<width>{}),
         ...);
    }(std::make_index_sequence<N>{});
}

} // namespace castnet::detail::inline CASTNET_VECTORS
