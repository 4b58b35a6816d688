// Sorting of numbers by their digits, from the last one to the first (radix sort), or by
// comparisons where they are few: those of many rows side by side, in vectors.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/float_bits.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/target.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/tensor/detail/buffer.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace castnet::detail::inline CASTNET_VECTORS {

// Numbers as unsigned keys in the same order: NaN is the largest. (Without jumps, so that loops
// compute them in vectors.)
template <class T>
struct sort_key {
    static_assert(sizeof(T) <= 8,
                  "castnet: numbers of more than 64 bits, such as long double, cannot be sorted");
    using type = std::conditional_t<
        sizeof(T) == 1, std::uint8_t,
        std::conditional_t<sizeof(T) == 2, std::uint16_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
    static constexpr int last = 8 * sizeof(T) - 1;
    static constexpr type sign = static_cast<type>(type{1} << last);

    static type of(T x) {
        if constexpr (std::is_floating_point_v<T>) {
            using limits = std::numeric_limits<T>;
            constexpr auto infinity = std::bit_cast<type>(limits::infinity());
            constexpr auto nan = std::bit_cast<type>(limits::quiet_NaN());
            auto const given = std::bit_cast<type>(x);
            type const bits = (given & ~sign) > infinity ? nan : given;
            return bits ^ (sign | (0 - (bits >> last))); // all bits of negative ones
        } else if constexpr (std::is_signed_v<T>) {
            return static_cast<type>(static_cast<type>(x) ^ sign);
        } else {
            return static_cast<type>(x);
        }
    }
    static T number(type key) {
        if constexpr (std::is_floating_point_v<T>) {
            return std::bit_cast<T>(key ^ (sign | ((key >> last) - 1)));
        } else if constexpr (std::is_signed_v<T>) {
            return static_cast<T>(static_cast<type>(key ^ sign));
        } else {
            return static_cast<T>(key);
        }
    }
};

// The key of a number and its place, ordered by both: one integer where that has room for them.
template <class T>
struct long_placed_key {
    typename sort_key<T>::type key;
    std::uint32_t place;

    friend bool operator<(long_placed_key const& a, long_placed_key const& b) {
        return a.key < b.key || (a.key == b.key && a.place < b.place);
    }
};
template <class T>
using placed_key =
    std::conditional_t<sizeof(T) <= sizeof(std::uint32_t), std::uint64_t, long_placed_key<T>>;

template <class T>
placed_key<T> with_place(typename sort_key<T>::type key, size_t place) {
    if constexpr (std::is_integral_v<placed_key<T>>) {
        return std::uint64_t{key} << 32 | place;
    } else {
        return {key, static_cast<std::uint32_t>(place)};
    }
}
template <class Item>
size_t place_of(Item const& item) {
    if constexpr (std::is_integral_v<Item>) {
        return static_cast<std::uint32_t>(item);
    } else {
        return item.place;
    }
}

// The key of a number where -0 is 0: ascending, or of the largest first; and that with its place.
template <bool LargestFirst, class T>
typename sort_key<T>::type key_of_number(T number) {
    auto const key = sort_key<T>::of(static_cast<T>(number + T(0)));
    return LargestFirst ? static_cast<typename sort_key<T>::type>(~key) : key;
}
template <bool LargestFirst, class T>
placed_key<T> item_at(T number, size_t place) {
    return with_place<T>(key_of_number<LargestFirst>(number), place);
}

// Where a sort looks at items: the bits of an integer, or those of a placed key that are its own.
template <class Key>
struct whole_key {
    static constexpr size_t bits = 8 * sizeof(Key);
    static size_t digit(Key key, size_t from, size_t values) {
        return static_cast<size_t>(key >> from) % values;
    }
};
template <class T>
struct key_without_place {
    static constexpr size_t bits = 8 * sizeof(T);
    static size_t digit(placed_key<T> const& item, size_t from, size_t values) {
        if constexpr (std::is_integral_v<placed_key<T>>) {
            return static_cast<size_t>(item >> (32 + from)) % values;
        } else {
            return static_cast<size_t>(item.key >> from) % values;
        }
    }
};

// Sorts items by the digits of their keys, of so many bits each, the last of them first; equal ones
// stay in their order. `other` has room for as many.
template <class Keys, size_t Digits = Keys::bits / 8, size_t Bits = 8, class Item>
void sort_by_digits(Item* items, Item* other, std::uint32_t count) {
    constexpr size_t values = size_t{1} << Bits;
    auto const digit = [](Item const& item, size_t d) {
        return Keys::digit(item, Keys::bits - (Digits - d) * Bits, values);
    };
    std::uint32_t counts[Digits][values] = {};
    for (size_t i = 0; i != count; ++i) {
        for (size_t d = 0; d != Digits; ++d) {
            ++counts[d][digit(items[i], d)];
        }
    }
    Item* from = items;
    for (size_t d = 0; d != Digits; ++d) {
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

// The key with `place` others before it in ascending order; the keys are moved. Bounds that are
// likely to have it between them come from a sample, and nothing jumps by what a single key is.
template <class Key>
Key key_at(Key* keys, std::uint32_t count, std::uint32_t place) {
    constexpr std::uint32_t most = 64;
    for (bool narrows = true; narrows && count > most;) {
        std::uint32_t const few = count > most * most ? most : most / 4;
        std::uint32_t const margin = few / 8 + 1;
        Key sample[most];
        for (std::uint32_t i = 0; i != few; ++i) {
            sample[i] = keys[std::uint64_t{i} * count / few];
        }
        std::sort(sample, sample + few);
        auto const rank = static_cast<std::uint32_t>(std::uint64_t{place} * few / count);
        Key low = sample[rank < margin ? 0 : rank - margin];
        Key high = sample[std::min(rank + margin, few - 1)];
        std::uint32_t below = 0, up_to = 0;
        for (size_t i = 0; i != count; ++i) {
            below += keys[i] < low ? 1 : 0;
            up_to += keys[i] <= high ? 1 : 0;
        }
        if (place < below) {
            high = static_cast<Key>(low - 1);
            low = 0;
        } else if (place >= up_to) {
            low = static_cast<Key>(high + 1);
            high = std::numeric_limits<Key>::max();
            place -= up_to;
        } else if (low == high) {
            return low;
        } else {
            place -= below;
        }
        std::uint32_t kept = 0;
        for (size_t i = 0; i != count; ++i) {
            Key const key = keys[i];
            keys[kept] = key;
            kept += static_cast<Key>(key - low) <= static_cast<Key>(high - low) ? 1 : 0;
        }
        narrows = kept < count / 2;
        count = kept;
    }
    std::nth_element(keys, keys + place, keys + count);
    return keys[place];
}

// The fewest items for which this takes less time than comparisons.
template <class Keys>
inline constexpr size_t least_by_digits = 12 * (Keys::bits / 8);

// Items of several rows side by side, each row in a lane.
template <class Item>
struct item_lanes {
    typedef Item vector __attribute__((vector_size(cpu::vector_bytes), may_alias));
    static constexpr size_t count = sizeof(vector) / sizeof(Item);
    vector items;

    void set(size_t lane, Item item) { // clang sets lanes of vectors one by one slowly
        reinterpret_cast<Item*>(&items)[lane] = item;
    }
    Item get(size_t lane) const { return reinterpret_cast<Item const*>(&items)[lane]; }

    [[gnu::always_inline]] CASTNET_WIDE_VECTORS static void put_in_order(item_lanes& first,
                                                                         item_lanes& second) {
        vector const a = first.items, b = second.items;
        first.items = b < a ? b : a;
        second.items = b < a ? a : b;
    }
};
template <class T>
struct item_lanes<long_placed_key<T>> {
    using keys = item_lanes<std::uint64_t>;
    using vector = typename keys::vector;
    static constexpr size_t count = keys::count;
    keys key, place;

    void set(size_t lane, long_placed_key<T> item) {
        key.set(lane, item.key);
        place.set(lane, item.place);
    }
    long_placed_key<T> get(size_t lane) const {
        return {key.get(lane), static_cast<std::uint32_t>(place.get(lane))};
    }

    [[gnu::always_inline]] CASTNET_WIDE_VECTORS static void put_in_order(item_lanes& first,
                                                                         item_lanes& second) {
        vector const a = first.key.items, b = second.key.items;
        vector const at = first.place.items, bt = second.place.items;
        auto const exchange = (b < a) | ((b == a) & (bt < at));
        first.key.items = exchange ? b : a;
        second.key.items = exchange ? a : b;
        first.place.items = exchange ? bt : at;
        second.place.items = exchange ? at : bt;
    }
};

// Sorts rows of Length items, item i of each in items[i], by Batcher's merge exchange (Knuth, The
// Art of Computer Programming 3, algorithm 5.2.2M): which items it compares does not depend on
// them.
template <size_t Length, class Lanes>
CASTNET_WIDE_VECTORS void sort_side_by_side(Lanes* items) {
    constexpr size_t half = std::bit_ceil(Length) / 2;
    for (size_t p = half; p > 0; p /= 2) {
        size_t offset = 0, distance = p;
        for (size_t q = half;; q /= 2) {
            for (size_t first = offset; first + distance < Length; first += 2 * p) {
                size_t const end = std::min(first + p, Length - distance);
                for (size_t i = first; i != end; ++i) {
                    Lanes::put_in_order(items[i], items[i + distance]);
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

// The most items in a row for which this takes less time than digits: fewer where items have
// places, too, and few digits; none where processors do not compare such items in vectors.
template <class Item, class Keys = whole_key<Item>>
inline constexpr size_t most_side_by_side =
    sizeof(Item) >= sizeof(double) && !elementary::Vectorized<double> ? 0
    : Keys::bits == 8 * sizeof(Item)
        ? 256
        : std::min(size_t{256}, Keys::bits / 8 * size_t{cpu::vector_bytes});

// Sorts rows of Length items side by side, as many as fill whole vectors, if that takes less time:
// read(row, i) gives the item of element i in the row that begins there, write(row, i, item) takes
// it back. The beginning of the first row that is left.
template <size_t Length, class Item, class Keys, class Read, class Write>
size_t sort_whole_lanes(size_t rows, Read const& read, Write const& write) {
    size_t begin = 0;
    if constexpr (Length > 1 && Length <= most_side_by_side<Item, Keys>) {
        using lanes_type = item_lanes<Item>;
        constexpr size_t lanes = lanes_type::count;
        lanes_type items[Length];
        for (; begin + lanes * Length <= rows * Length; begin += lanes * Length) {
            for (size_t lane = 0; lane != lanes; ++lane) {
                for (size_t i = 0; i != Length; ++i) {
                    items[i].set(lane, read(begin + lane * Length, i));
                }
            }
            sort_side_by_side<Length>(items);
            for (size_t lane = 0; lane != lanes; ++lane) {
                for (size_t i = 0; i != Length; ++i) {
                    write(begin + lane * Length, i, items[i].get(lane));
                }
            }
        }
    }
    return begin;
}

// Sorts Count items, equal ones in any order if they are few.
template <size_t Count, class Keys, class Item>
void sort_items(Item* items) {
    static_assert(Count <= std::numeric_limits<std::uint32_t>::max());
    if constexpr (Count >= least_by_digits<Keys>) {
        buffer<Item, Count> other;
        sort_by_digits<Keys>(items, other.data(), std::uint32_t{Count});
    } else {
        std::sort(items, items + Count);
    }
}

// The same of all rows.
template <size_t Length, class Item, class Keys, class Read, class Write>
void sort_rows(size_t rows, Read const& read, Write const& write) {
    buffer<Item, Length> row;
    Item* const items = row.data();
    size_t first = sort_whole_lanes<Length, Item, Keys>(rows, read, write);
    for (; first != rows * Length; first += Length) {
        for (size_t i = 0; i != Length; ++i) {
            items[i] = read(first, i);
        }
        sort_items<Length, Keys>(items);
        for (size_t i = 0; i != Length; ++i) {
            write(first, i, items[i]);
        }
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
