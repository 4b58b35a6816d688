// Search for the largest numbers of a row.
#pragma once

#include <castnet/tensor/detail/sort.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::detail::inline CASTNET_VECTORS {

// Whether the order of the K largest is kept while the row is searched for larger ones.
template <size_t K, size_t Length>
inline constexpr bool keeps_order = 8 * K <= Length && K * K <= Length;

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
    constexpr size_t whole = K + (Length - K) / block * block;
    for (size_t i = K; i != whole; i += block) {
        if (!are_at_most<block>(limit, numbers + i)) {
            for (size_t k = 0; k != block; ++k) {
                take(i + k);
            }
        }
    }
    for (size_t i = whole; i < Length; ++i) {
        take(i);
    }
}

// The K largest of Length numbers with their places, by the key of the last of them. Of equal ones
// the first is the first.
template <size_t K, size_t Length, class T>
void select_largest(T const* numbers, placed_key<T>* items) {
    using key_type = typename sort_key<T>::type;
    buffer<key_type, Length> room, room_to_move;
    key_type *const keys = room.data(), *const moved = room_to_move.data();
    for (size_t i = 0; i != Length; ++i) {
        keys[i] = key_of_number<true>(numbers[i]);
    }
    std::copy_n(keys, Length, moved);
    key_type const last = key_at(moved, std::uint32_t{Length}, std::uint32_t{K - 1});
    size_t found = 0;
    for (size_t i = 0; i != Length; ++i) {
        items[found] = with_place<T>(keys[i], i);
        found += keys[i] < last ? 1 : 0;
    }
    for (size_t i = 0; found != K; ++i) {
        if (keys[i] == last) {
            items[found++] = with_place<T>(last, i);
        }
    }
}

// The K largest of Length numbers in each row: write(row, k, place) takes the place of number k of
// them in the row that begins there.
template <size_t K, size_t Length, class T, class Write>
void find_largest(T const* numbers, size_t rows, Write const& write) {
    using item = placed_key<T>;
    using keys = key_without_place<T>;
    size_t const end = rows * Length;
    if constexpr (keeps_order<K, Length>) {
        item items[K];
        for (size_t row = 0; row != end; row += Length) {
            find_few_largest<K, Length>(numbers + row, items);
            for (size_t k = 0; k != K; ++k) {
                write(row, k, place_of(items[k]));
            }
        }
    } else {
        size_t begin = sort_whole_lanes<Length, item, keys>(
            rows, [&](size_t row, size_t i) { return item_at<true>(numbers[row + i], i); },
            [&](size_t row, size_t i, item const& found) {
                if (i < K) {
                    write(row, i, place_of(found));
                }
            });
        constexpr size_t several = item_lanes<item>::count; // rows that are sorted together
        buffer<item, several * K> room;
        item* const items = room.data();
        for (size_t count; begin != end; begin += count * Length) {
            count = std::min(several, (end - begin) / Length);
            for (size_t i = 0; i != count; ++i) {
                select_largest<K, Length>(numbers + begin + i * Length, items + i * K);
            }
            sort_rows<K, item, keys>(
                count, [&](size_t row, size_t i) { return items[row + i]; },
                [&](size_t row, size_t i, item const& found) {
                    write(begin + row / K * Length, i, place_of(found));
                });
        }
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
