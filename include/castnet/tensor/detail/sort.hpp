// Sorting of numbers by their digits, from the last one to the first (radix sort), or by
// comparisons where they are few: those of many rows side by side, in vectors.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/float_bits.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/target.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace castnet::detail::inline CASTNET_VECTORS {

// Numbers as unsigned keys in the same order: NaN is the largest.
template <class T>
struct sort_key {
    static_assert(sizeof(T) <= 8,
                  "castnet: numbers of more than 64 bits, such as long double, cannot be sorted");
    using type = std::conditional_t<
        sizeof(T) == 1, std::uint8_t,
        std::conditional_t<sizeof(T) == 2, std::uint16_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
    static constexpr type sign = static_cast<type>(type{1} << (8 * sizeof(T) - 1));

    static type of(T x) {
        if constexpr (std::is_floating_point_v<T>) {
            type const bits = std::bit_cast<type>(x == x ? x : std::numeric_limits<T>::quiet_NaN());
            return (bits & sign) != 0 ? ~bits : bits | sign;
        } else if constexpr (std::is_signed_v<T>) {
            return static_cast<type>(static_cast<type>(x) ^ sign);
        } else {
            return static_cast<type>(x);
        }
    }
    static T number(type key) {
        if constexpr (std::is_floating_point_v<T>) {
            return std::bit_cast<T>((key & sign) != 0 ? key ^ sign : ~key);
        } else if constexpr (std::is_signed_v<T>) {
            return static_cast<T>(static_cast<type>(key ^ sign));
        } else {
            return static_cast<T>(key);
        }
    }
};

// A number with its place, in the order of the numbers.
template <class T>
struct placed_key {
    typename sort_key<T>::type key;
    std::uint32_t place;
};

template <class Key>
Key sorted_by(Key key) {
    return key;
}
template <class T>
auto sorted_by(placed_key<T> const& item) {
    return item.key;
}

// Sorts items by the digits of their keys; equal ones stay in their order. `other` has room for as
// many.
template <class Item>
void sort_by_digits(Item* items, Item* other, std::uint32_t count) {
    constexpr size_t digits = sizeof(sorted_by(*items)), values = 256;
    auto const digit = [](Item const& item, size_t d) {
        return static_cast<size_t>(sorted_by(item) >> (8 * d)) % values;
    };
    std::uint32_t counts[digits][values] = {};
    for (size_t i = 0; i != count; ++i) {
        for (size_t d = 0; d != digits; ++d) {
            ++counts[d][digit(items[i], d)];
        }
    }
    Item* from = items;
    for (size_t d = 0; d != digits; ++d) {
        if (counts[d][digit(from[0], d)] == count) {
            continue; // one digit for all
        }
        std::uint32_t next[values], sum = 0;
        for (size_t v = 0; v != values; ++v) {
            next[v] = std::exchange(sum, sum + counts[d][v]);
        }
        for (size_t i = 0; i != count; ++i) {
            other[next[digit(from[i], d)]++] = from[i];
        }
        std::swap(from, other);
    }
    if (from != items) {
        std::copy_n(from, count, items);
    }
}

// The fewest items for which this takes less time than comparisons.
template <class Item>
inline constexpr size_t least_by_digits = 12 * sizeof(sorted_by(Item{}));

// Sorts rows of Length keys, key i of each in keys[i], by Batcher's merge exchange (Knuth, The Art
// of Computer Programming 3, algorithm 5.2.2M): which keys it compares does not depend on them.
template <size_t Length, class Vector>
CASTNET_WIDE_VECTORS void sort_side_by_side(Vector* keys) {
    constexpr size_t half = std::bit_ceil(Length) / 2;
    for (size_t p = half; p > 0; p /= 2) {
        size_t offset = 0, distance = p;
        for (size_t q = half;; q /= 2) {
            for (size_t first = offset; first + distance < Length; first += 2 * p) {
                size_t const end = std::min(first + p, Length - distance);
                for (size_t i = first; i != end; ++i) {
                    Vector const a = keys[i], b = keys[i + distance];
                    keys[i] = b < a ? b : a;
                    keys[i + distance] = b < a ? a : b;
                }
            }
            if (q == p) {
                break;
            }
            distance = q - p;
            offset = p;
        }
    }
}

// The most keys in a row for which this takes less time than digits; none where processors do not
// compare such keys in vectors.
template <class Key>
inline constexpr size_t most_side_by_side =
    sizeof(Key) < sizeof(double) || elementary::Vectorized<double> ? 256 : 0;

// Sorts rows of Length items: read(i) gives that of element i, write(i, item) takes it back.
template <size_t Length, class Item, class Read, class Write, class Before>
void sort_rows(size_t rows, Read const& read, Write const& write, Before const& before) {
    static_assert(Length <= std::numeric_limits<std::uint32_t>::max());
    size_t begin = 0;
    if constexpr (std::is_unsigned_v<Item> && Length > 1 && Length <= most_side_by_side<Item>) {
        typedef Item vector __attribute__((vector_size(64)));
        constexpr size_t lanes = sizeof(vector) / sizeof(Item);
        vector keys[Length];
        for (; begin + lanes * Length <= rows * Length; begin += lanes * Length) {
            for (size_t lane = 0; lane != lanes; ++lane) {
                for (size_t i = 0; i != Length; ++i) {
                    keys[i][lane] = read(begin + lane * Length, i);
                }
            }
            sort_side_by_side<Length>(keys);
            for (size_t lane = 0; lane != lanes; ++lane) {
                for (size_t i = 0; i != Length; ++i) {
                    write(begin + lane * Length, i, keys[i][lane]);
                }
            }
        }
    }
    constexpr bool by_digits = Length >= least_by_digits<Item>;
    auto const items = std::make_unique_for_overwrite<Item[]>(Length);
    auto const other = std::make_unique_for_overwrite<Item[]>(by_digits ? Length : 0);
    for (size_t first = begin; first != rows * Length; first += Length) {
        for (size_t i = 0; i != Length; ++i) {
            items[i] = read(first, i);
        }
        if constexpr (by_digits) {
            sort_by_digits(items.get(), other.get(), std::uint32_t{Length});
        } else {
            std::sort(items.get(), items.get() + Length, before);
        }
        for (size_t i = 0; i != Length; ++i) {
            write(first, i, items[i]);
        }
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
