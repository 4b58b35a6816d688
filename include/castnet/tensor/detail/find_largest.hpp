// Search for the largest numbers of a row.
#pragma once

#include <castnet/tensor/detail/sort.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::detail::inline CASTNET_VECTORS {

// Whether the order of the K largest is kept while the row is searched for larger ones.
template <size_t K, size_t Length>
inline constexpr bool keeps_order = K <= 16 && 32 * K <= Length;
// How many items are needed besides the row.
template <size_t K, size_t Length>
inline constexpr size_t room_for_largest = keeps_order<K, Length> ? K : Length;

// Whether all of Count numbers are at most as large as a limit, and none is NaN; without a jump for
// each.
template <size_t Count, class T>
bool are_at_most(T limit, T const* numbers) {
    using number = typename sort_key<T>::type; // as wide, for vectors
    number many = 0;
    for (size_t i = 0; i != Count; ++i) {
        many = static_cast<number>(many + (numbers[i] <= limit ? 1 : 0));
    }
    return many == Count;
}

// The K largest of Length numbers with their places, in order: few of them are larger than the K
// largest before them.
template <size_t K, size_t Length, class T>
void find_few_largest(T const* numbers, placed_key<T>* items) {
    constexpr size_t block = 32;
    for (size_t i = 0; i != K; ++i) {
        items[i] = item_at<true>(numbers[i], i);
    }
    std::sort(items, items + K);
    T limit = numbers[place_of(items[K - 1])];
    auto const take = [&](size_t i) {
        if (numbers[i] <= limit) {
            return;
        }
        auto const item = item_at<true>(numbers[i], i);
        if (item < items[K - 1]) {
            size_t at = K - 1;
            for (; at > 0 && item < items[at - 1]; --at) {
                items[at] = items[at - 1];
            }
            items[at] = item;
            limit = numbers[place_of(items[K - 1])];
        }
    };
    size_t i = K;
    for (; i + block <= Length; i += block) {
        if (!are_at_most<block>(limit, numbers + i)) {
            for (size_t k = 0; k != block; ++k) {
                take(i + k);
            }
        }
    }
    for (; i != Length; ++i) {
        take(i);
    }
}

// The K largest of Length numbers with their places, in order, as the first of these items.
template <size_t K, size_t Length, class T>
void find_largest(T const* numbers, placed_key<T>* items) {
    if constexpr (keeps_order<K, Length>) {
        find_few_largest<K, Length>(numbers, items);
    } else {
        for (size_t i = 0; i != Length; ++i) {
            items[i] = item_at<true>(numbers[i], i);
        }
        std::partial_sort(items, items + K, items + Length);
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
