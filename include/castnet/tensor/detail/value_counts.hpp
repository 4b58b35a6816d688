// Counts of each value among elements of a byte.
#pragma once

#include <castnet/tensor/detail/sort.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace castnet::detail {

// Whether so many elements are better counted value by value: there are few values of a byte.
template <class T, size_t Count>
inline constexpr bool counts_values = std::is_integral_v<T> && sizeof(T) == 1 && Count >= 1024;

// How many elements have each value, from the least on. (Equal neighbours have counts of their own,
// so that none waits for the one before.)
template <class T>
std::array<size_t, 256> counts_of_values(T const* values, size_t count) {
    size_t counts[4][256] = {};
    size_t const rest = count % sizeof(std::uint64_t);
    for (size_t i = 0; i != count - rest; i += sizeof(std::uint64_t)) {
        std::uint64_t bytes; // in one read
        std::memcpy(&bytes, values + i, sizeof bytes);
        for (size_t k = 0; k != sizeof bytes; ++k) {
            ++counts[k % 4][(bytes >> (8 * k)) & 0xFF];
        }
    }
    for (size_t i = count - rest; i != count; ++i) {
        ++counts[0][static_cast<unsigned char>(values[i])];
    }
    constexpr size_t least = std::is_signed_v<T> ? 0x80 : 0;
    std::array<size_t, 256> sums;
    for (size_t key = 0; key != 256; ++key) {
        size_t const byte = key ^ least;
        sums[key] = counts[0][byte] + counts[1][byte] + counts[2][byte] + counts[3][byte];
    }
    return sums;
}
template <class T>
T value_of_count(size_t key) {
    return sort_key<T>::number(static_cast<typename sort_key<T>::type>(key));
}

} // namespace castnet::detail
