// Extreme value of a run (run.hpp), those of columns, and the place of one.
#pragma once

#include <castnet/tensor/detail/run.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>

namespace castnet::detail::inline CASTNET_VECTORS {

// Improves two vectors by Count others, in a loop over four, as sum_of_block does. `numbers` keeps
// which lanes have had no NaN.
template <int Sign, size_t Count, InVectors T, class Part, class Mask, size_t Parts>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void improve_by(T const* from, Part (&best)[2][Parts],
                                                           Mask (&numbers)[Parts]) {
    using stored = typename in_registers<T>::stored;
    stored const* const x = reinterpret_cast<stored const*>(from);
    constexpr keep_extreme<Sign> improve;
    constexpr size_t looped = Count / 4 * 4;
    if constexpr (looped > 0) {
        size_t end = looped * Parts;
        CASTNET_OPAQUE(end);
        for (size_t i = 0; i != end; i += 4 * Parts) {
            CASTNET_UNROLL
            for (size_t p = 0; p < Parts; ++p) {
                Part a = x[i + p], b = x[i + Parts + p];
                Part c = x[i + 2 * Parts + p], d = x[i + 3 * Parts + p];
                CASTNET_OPAQUE_VECTOR(a);
                CASTNET_OPAQUE_VECTOR(b);
                CASTNET_OPAQUE_VECTOR(c);
                CASTNET_OPAQUE_VECTOR(d);
                improve(best[0][p], a);
                improve(best[1][p], b);
                improve(best[0][p], c);
                improve(best[1][p], d);
                numbers[p] &= (a == a) & (b == b) & (c == c) & (d == d);
            }
        }
    }
    CASTNET_UNROLL
    for (size_t k = looped; k < Count; ++k) {
        CASTNET_UNROLL
        for (size_t p = 0; p < Parts; ++p) {
            Part a = x[k * Parts + p];
            CASTNET_OPAQUE_VECTOR(a);
            improve(best[k % 2][p], a);
            numbers[p] &= a == a;
        }
    }
}

// The largest (Sign 1) or smallest (Sign -1) number, and whether there is a NaN.
template <int Sign, InVectors T, size_t Count, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void extreme_of_run(Run const& run, T& number,
                                                               bool& has_nan) {
    using registers = in_registers<T>;
    using stored = typename registers::stored;
    constexpr size_t width = run_width<T>, block = run_block * width, parts = registers::parts;
    constexpr size_t whole = Count / block * block, few = (Count - whole) / width;
    constexpr keep_extreme<Sign> improve;
    typename registers::type best[2][parts];
    typename registers::mask numbers[parts];
    stored const* const last = reinterpret_cast<stored const*>(run(length<width>{}, Count - width));
    CASTNET_UNROLL
    for (size_t p = 0; p < parts; ++p) {
        best[0][p] = best[1][p] = last[p];
        numbers[p] = best[0][p] == best[0][p];
    }
    for (size_t i = 0; i != whole; i += block) {
        improve_by<Sign, run_block>(run(length<block>{}, i), best, numbers);
    }
    if constexpr (few > 0) {
        improve_by<Sign, few>(run(length<few * width>{}, whole), best, numbers);
    }
    CASTNET_UNROLL
    for (size_t p = 0; p < parts; ++p) {
        improve(best[0][p], best[1][p]);
    }
    number = join_parts<T, parts>(best[0], improve);
    has_nan = join_parts<typename lanes<T, width>::bits, parts>(numbers, keep_common_bits{}) == 0;
}

// The same of fewer numbers than fill a vector: in vectors of 16 bytes, and the rest one by one.
template <int Sign, size_t Count, InVectors T>
CASTNET_ALWAYS_INLINE void extreme_of_few(T const* x, T& number, bool& has_nan) {
    constexpr size_t width = 16 / sizeof(T), few = Count / width, rest = Count % width;
    constexpr keep_extreme<Sign> improve;
    if constexpr (few == 0) {
        number = x[0];
        has_nan = number != number;
        CASTNET_UNROLL
        for (size_t k = 1; k < Count; ++k) {
            T const next = x[k];
            improve(number, next);
            has_nan |= next != next;
        }
    } else {
        auto const* const vectors = reinterpret_cast<typename lanes<T, width>::stored const*>(x);
        typename lanes<T, width>::type best = vectors[0];
        auto numbers = best == best;
        CASTNET_UNROLL
        for (size_t k = 1; k < few; ++k) {
            typename lanes<T, width>::type const next = vectors[k];
            improve(best, next);
            numbers &= next == next;
        }
        number = join_lanes<T, width>(best, improve);
        has_nan = any_lane(~numbers);
        if constexpr (rest > 0) {
            T last;
            bool last_has_nan;
            extreme_of_few<Sign, rest>(x + few * width, last, last_has_nan);
            improve(number, last);
            has_nan |= last_has_nan;
        }
    }
}

// Joins the lanes of whole numbers to one: halves first, then those of a word by shifts.
template <std::integral T, class Vector, class Join>
CASTNET_ALWAYS_INLINE T join_integers(Vector x, Join const& join) {
    constexpr size_t half = sizeof(Vector) / 2;
    if constexpr (half >= sizeof(std::uint64_t)) {
        typename lanes<T, half / sizeof(T)>::type lower, upper;
        std::memcpy(&lower, &x, half);
        std::memcpy(&upper, reinterpret_cast<char const*>(&x) + half, half);
        join(lower, upper);
        return join_integers<T>(lower, join);
    } else {
        CASTNET_UNROLL
        for (size_t shift = 32; shift >= 8 * sizeof(T); shift /= 2) {
            std::uint64_t word;
            std::memcpy(&word, &x, sizeof word);
            word >>= shift;
            Vector next;
            std::memcpy(&next, &word, sizeof next);
            join(x, next);
        }
        return x[std::endian::native == std::endian::little ? 0 : sizeof(x) / sizeof(T) - 1];
    }
}

// The same of whole numbers.
template <int Sign, std::integral T, size_t Count, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE T extreme_of_run(Run const& run) {
    using vector = typename in_registers<T>::type;
    using stored = typename in_registers<T>::stored;
    constexpr size_t width = sizeof(stored) / sizeof(T);
    constexpr size_t vectors = std::min(Count / width, run_block), block = vectors * width;
    constexpr keep_extreme<Sign> improve;
    vector best = *reinterpret_cast<stored const*>(run(length<width>{}, 0));
    for (size_t i = 0; i < Count; i += block) { // the last block begins earlier
        stored const* const x =
            reinterpret_cast<stored const*>(run(length<block>{}, std::min(i, Count - block)));
        for (size_t k = 0; k < vectors; ++k) {
            vector const next = x[k];
            improve(best, next);
        }
    }
    return join_integers<T>(best, improve);
}

// The same of columns, as many as Vectors have lanes: rows(i) gives the address of row i, which is
// there until it is called again. `has_nan` is 0 for those without NaN.
template <int Sign, InVectors T, size_t Count, size_t Vectors, class Rows, class Flag>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void extremes_of_columns(Rows const& rows, T* numbers,
                                                                    Flag* has_nan) {
    using vector = typename in_registers<T>::type;
    using stored = typename in_registers<T>::stored;
    using mask = typename in_registers<T>::mask;
    constexpr size_t count = Vectors * in_registers<T>::parts;
    constexpr keep_extreme<Sign> improve;
    static_assert(sizeof(Flag) == sizeof(T));
    vector best[count];
    mask other[count] = {};
    CASTNET_UNROLL
    for (size_t k = 0; k < count; ++k) {
        best[k] = vector{} + numbers[0];
    }
    for (size_t i = 0; i != Count; ++i) {
        stored const* const x = reinterpret_cast<stored const*>(rows(i));
        CASTNET_UNROLL
        for (size_t k = 0; k < count; ++k) {
            vector const by = x[k];
            improve(best[k], by);
            other[k] |= by != by;
        }
    }
    std::memcpy(numbers, best, sizeof best);
    std::memcpy(has_nan, other, sizeof other);
}

// The same of whole numbers, of Lanes columns.
template <int Sign, std::integral T, size_t Count, size_t Lanes, class Rows>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void extremes_of_columns(Rows const& rows, T* numbers) {
    using vector = typename in_registers<T>::type;
    using stored = typename in_registers<T>::stored;
    constexpr size_t vectors = Lanes * sizeof(T) / sizeof(stored);
    constexpr keep_extreme<Sign> improve;
    vector best[vectors];
    CASTNET_UNROLL
    for (size_t k = 0; k < vectors; ++k) {
        best[k] = vector{} + numbers[0];
    }
    for (size_t i = 0; i != Count; ++i) {
        stored const* const x = reinterpret_cast<stored const*>(rows(i));
        CASTNET_UNROLL
        for (size_t k = 0; k < vectors; ++k) {
            vector const next = x[k];
            improve(best[k], next);
        }
    }
    std::memcpy(numbers, best, sizeof best);
}

// The first places of the extremes of columns, or of their first NaN, and these numbers.
template <int Sign, InVectors T, size_t Count, size_t Vectors, class Rows, class Place>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void places_in_columns(Rows const& rows, T* numbers,
                                                                  Place* places) {
    using vector = typename in_registers<T>::type;
    using stored = typename in_registers<T>::stored;
    using mask = typename in_registers<T>::mask;
    using place = typename lanes<T, run_width<T>>::bits;
    constexpr size_t count = Vectors * in_registers<T>::parts;
    static_assert(sizeof(Place) == sizeof(T) && Count < std::numeric_limits<std::int32_t>::max());
    vector best[count];
    mask where[count] = {};
    stored const* const first = reinterpret_cast<stored const*>(rows(0));
    CASTNET_UNROLL
    for (size_t k = 0; k < count; ++k) {
        best[k] = first[k];
    }
    for (size_t i = 1; i < Count; ++i) {
        stored const* const x = reinterpret_cast<stored const*>(rows(i));
        mask const here = mask{} + static_cast<place>(i);
        CASTNET_UNROLL
        for (size_t k = 0; k < count; ++k) {
            vector const by = x[k];
            mask const keeps = (Sign > 0 ? by <= best[k] : best[k] <= by) | (best[k] != best[k]);
            best[k] = keeps ? best[k] : by; // a NaN takes the place of numbers only
            where[k] = keeps ? where[k] : here;
        }
    }
    std::memcpy(numbers, best, sizeof best);
    std::memcpy(places, where, sizeof where);
}

// The first place of the largest (Sign 1) or smallest (Sign -1) number, or of the first NaN. Each
// lane keeps the best number and in which part of the run it is; only that part is searched.
template <int Sign, InVectors T, size_t Count, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE size_t place_in_run(Run const& run, T& number) {
    using place = typename lanes<T, run_width<T>>::bits;
    using vector = typename in_registers<T>::type;
    using stored = typename in_registers<T>::stored;
    using places = typename in_registers<T>::mask;
    constexpr size_t parts = in_registers<T>::parts, lanes_each = run_width<T> / parts;
    constexpr size_t width = run_width<T>, most = run_block * width;
    constexpr size_t part = Count < most ? width : most;
    constexpr place none = std::numeric_limits<place>::max();
    constexpr keep_extreme<Sign> improve;
    constexpr keep_extreme<-1> keep_first;
    auto const read = [&](size_t begin) __attribute__((always_inline)) {
        return reinterpret_cast<stored const*>(run(length<part>{}, begin));
    };
    constexpr T worst =
        Sign > 0 ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    vector worst_numbers = {};
    places first_lanes = {}, nowhere = {};
    for (size_t j = 0; j < lanes_each; ++j) { // (nvcc 13.0 crashes at the sum of {} and a constant)
        worst_numbers[j] = worst;
        first_lanes[j] = static_cast<place>(j);
        nowhere[j] = none;
    }
    vector best[parts];
    places where[parts], lane[parts], first_nan[parts];
    CASTNET_UNROLL
    for (size_t p = 0; p < parts; ++p) {
        best[p] = worst_numbers;
        where[p] = places{};
        lane[p] = first_lanes + static_cast<place>(p * lanes_each);
        first_nan[p] = nowhere;
    }
    for (size_t i = 0; i < Count; i += part) { // the last part begins earlier
        size_t const begin = std::min(i, Count - part);
        stored const* const x = read(begin);
        places const here = places{} + static_cast<place>(begin);
        CASTNET_UNROLL
        for (size_t p = 0; p < parts; ++p) {
            vector of_part = x[p];
            places numbers = of_part == of_part;
            for (size_t k = 1; k < part / width; ++k) {
                vector const next = x[k * parts + p];
                improve(of_part, next);
                numbers &= next == next;
            }
            where[p] = (Sign > 0 ? best[p] < of_part : of_part < best[p]) ? here : where[p];
            improve(best[p], of_part);
            keep_first(first_nan[p], numbers ? nowhere : here);
        }
    }
    vector bests[parts];
    std::copy_n(best, parts, bests);
    number = join_parts<T, parts>(bests, improve);
    place const nan = join_parts<place, parts>(first_nan, keep_first);
    for (size_t p = 0; p < parts; ++p) {
        where[p] = best[p] == vector{} + number ? where[p] : nowhere;
    }
    place const begin = nan == none ? join_parts<place, parts>(where, keep_first) : nan;

    stored const* const x = read(static_cast<size_t>(begin));
    places first[parts];
    CASTNET_UNROLL
    for (size_t p = 0; p < parts; ++p) {
        first[p] = nowhere;
        for (size_t k = 0; k < part / width; ++k) {
            vector const next = x[k * parts + p];
            places found = next == vector{} + number;
            if (nan != none) {
                found = next != next;
            }
            keep_first(first[p], found ? lane[p] + static_cast<place>(k * width) : nowhere);
        }
    }
    if (nan != none) {
        number = std::numeric_limits<T>::quiet_NaN();
    }
    return static_cast<size_t>(begin + join_parts<place, parts>(first, keep_first));
}

// The same of whole numbers: block by block, and then in the first block that has the best number.
template <int Sign, std::integral T, size_t Count, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE size_t place_in_run(Run const& run, T& number) {
    using vector = typename in_registers<T>::type;
    using stored = typename in_registers<T>::stored;
    constexpr size_t width = sizeof(stored) / sizeof(T);
    constexpr size_t vectors = std::min(Count / width, run_block), block = vectors * width;
    constexpr keep_extreme<Sign> improve;
    auto const read = [&](size_t begin) __attribute__((always_inline)) {
        return reinterpret_cast<stored const*>(run(length<block>{}, begin));
    };
    number = Sign > 0 ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    size_t where = 0;
    for (size_t i = 0; i < Count; i += block) { // the last block begins earlier
        size_t const begin = std::min(i, Count - block);
        stored const* const x = read(begin);
        vector best = x[0];
        for (size_t k = 1; k < vectors; ++k) {
            vector const next = x[k];
            improve(best, next);
        }
        vector const so_far = vector{} + number;
        if (any_lane(Sign > 0 ? so_far < best : best < so_far)) {
            where = begin;
            for (size_t j = 0; j < width; ++j) {
                T const next = best[j];
                improve(number, next);
            }
        }
    }
    stored const* const x = read(where);
    size_t k = 0;
    while (!any_lane(vector{x[k]} == vector{} + number)) {
        ++k;
    }
    T const* const first = reinterpret_cast<T const*>(x + k);
    return where + k * width + static_cast<size_t>(std::find(first, first + width, number) - first);
}

} // namespace castnet::detail::inline CASTNET_VECTORS
