// How often each value of a byte is among elements.
#pragma once

#include <castnet/tensor/detail/sort.hpp>

#include <array>
#include <cstddef>
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
    for (size_t i = 0; i != count; ++i) {
        ++counts[i % 4][sort_key<T>::of(values[i])];
    }
    std::array<size_t, 256> sums;
    for (size_t key = 0; key != 256; ++key) {
        sums[key] = counts[0][key] + counts[1][key] + counts[2][key] + counts[3][key];
    }
    return sums;
}
template <class T>
T value_of_count(size_t key) {
    return sort_key<T>::number(static_cast<typename sort_key<T>::type>(key));
}

} // namespace castnet::detail
