// Sum and product of a run: of neighbours, as many as the compiler knows. They are taken in vectors
// of 64 bytes on every target, so that the order of additions is the same on all. Where they do not
// fill the last vector, that has elements of the one before, too.
//
// A run is a function that gives the address of some elements, run(count, i) for `count` of them, a
// std::integral_constant, from element i on. They are there until it is called again.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/target.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/tensor/detail/lanes.hpp>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace castnet::detail::inline CASTNET_VECTORS {

template <class T>
inline constexpr size_t run_width = 64 / sizeof(T);

// Whether a run is as long as a vector.
template <size_t Count, class T>
inline constexpr bool fills_vector = false;
template <size_t Count, InVectors T>
inline constexpr bool fills_vector<Count, T> = Count >= run_width<T>;

// Whether columns are as many as some vectors have lanes.
template <size_t Count, class T>
inline constexpr bool fills_vectors = fills_vector<Count, T> && Count % run_width<T> == 0;

template <size_t N>
using length = std::integral_constant<size_t, N>;

// How many vectors of a run are asked for at once.
inline constexpr size_t run_block = 16;

// Whether any lane of a comparison is true.
template <class Mask>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE bool any_lane(Mask const& mask) {
    constexpr size_t count = sizeof(Mask) / sizeof(std::int64_t);
    static_assert(count >= 2, "masks fill a vector");
    using words = typename lanes<std::int64_t, count>::type;
    auto const any = __builtin_bit_cast(words, mask);
    if constexpr (count > 2) {
        typename lanes<std::int64_t, count / 2>::type lower, upper;
        halve<count>(any, lower, upper);
        return any_lane(lower | upper);
    } else {
        return (any[0] | any[1]) != 0;
    }
}

// The sum of neighbouring vectors of 16 bytes. (Of a loop g++ does not know how short it is when it
// decides what is worth to be inlined. A pointer to such vectors would lose that they are not
// aligned: it is no template argument.)
template <size_t Count, class T>
CASTNET_ALWAYS_INLINE auto sum_of_vectors(T const* x) {
    constexpr size_t width = 16 / sizeof(T);
    using stored = typename lanes<T, width>::stored;
    typename lanes<T, width>::type last = *reinterpret_cast<stored const*>(x + (Count - 1) * width);
    if constexpr (Count > 1) {
        last = sum_of_vectors<Count - 1>(x) + last;
    }
    return last;
}

// The sum of fewer numbers than fill a vector: in vectors of 16 bytes, or in halves.
template <size_t Count, class T>
CASTNET_ALWAYS_INLINE T sum_of_few(T const* x) {
    constexpr size_t width = 16 / sizeof(T);
    if constexpr (Count == 1) {
        return x[0];
    } else if constexpr (Count < 2 * width) {
        return sum_of_few<Count / 2>(x) + sum_of_few<Count - Count / 2>(x + Count / 2);
    } else {
        auto const sum = sum_of_vectors<Count / width>(x);
        T total = join_lanes<T, width>(sum, plus);
        if constexpr (Count % width != 0) {
            total += sum_of_few<Count % width>(x + Count / width * width);
        }
        return total;
    }
}

// Joins a vector in registers to one of Wide numbers, or its halves to two. (No lambda: nvcc 13.0
// crashes.)
template <class T, class Wide, class Vector, class Join>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void join_part(Vector const& x, Wide* total,
                                                          Join const& join) {
    if constexpr (std::is_same_v<Vector, Wide>) {
        join(total[0], x);
    } else {
        constexpr size_t width = sizeof(Vector) / sizeof(T);
        typename lanes<T, width / 2>::type lower, upper;
        halve<width>(x, lower, upper);
        join(total[0], __builtin_convertvector(lower, Wide));
        join(total[1], __builtin_convertvector(upper, Wide));
    }
}

// A vector of 64 bytes, as parts in registers.
template <InVectors T>
using run_parts = typename in_registers<T>::type[in_registers<T>::parts];

// The sums or products of floats or doubles: two vectors of doubles, as parts in registers.
inline constexpr size_t wide_parts = 2 * in_registers<double>::parts;
using wide_lanes = typename in_registers<double>::type[wide_parts];

// How many of these a part of T's is joined to.
template <InVectors T>
inline constexpr size_t wide_each = sizeof(double) / sizeof(T);

template <InVectors T, class Join>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void join_wide(run_parts<T> const& x, wide_lanes& total,
                                                          Join const& join) {
    CASTNET_UNROLL
    for (size_t p = 0; p < in_registers<T>::parts; ++p) {
        join_part<T>(x[p], total + p * wide_each<T>, join);
    }
}

// The last vector of Count numbers from `begin` on, with `neutral` in place of what the one before
// it has, too.
template <InVectors T, size_t Count, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void read_rest(Run const& run, size_t begin, T neutral,
                                                          run_parts<T>& rest) {
    using registers = in_registers<T>;
    constexpr size_t width = run_width<T>, each = width / registers::parts;
    auto const* const last = reinterpret_cast<typename registers::stored const*>(
        run(length<width>{}, begin + Count - width));
    CASTNET_UNROLL
    for (size_t p = 0; p < registers::parts; ++p) {
        typename registers::mask missing = {};
        for (size_t j = 0; j < each; ++j) {
            missing[j] = p * each + j >= width - Count % width ? -1 : 0;
        }
        rest[p] = missing ? last[p] : typename registers::type{} + neutral;
    }
}

// The sum of Count numbers from `begin` on, as a vector. Many are added in a loop over four
// vectors: g++ would unroll one over a known number and read its vectors in another order, of which
// processors fetch less ahead.
template <InVectors T, size_t Count, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void sum_of_block(Run const& run, size_t begin,
                                                             run_parts<T>& total) {
    using stored = typename in_registers<T>::stored;
    constexpr size_t width = run_width<T>, vectors = Count / width, fours = vectors / 4;
    constexpr size_t looped = vectors > 8 ? fours * 4 : 0, few = vectors - looped;
    constexpr size_t parts = in_registers<T>::parts;
    run_parts<T> sum[2] = {};
    if constexpr (looped > 0) {
        size_t end = begin + looped * width;
        CASTNET_OPAQUE(end);
        for (size_t i = begin; i != end; i += 4 * width) {
            stored const* const x = reinterpret_cast<stored const*>(run(length<4 * width>{}, i));
            CASTNET_UNROLL
            for (size_t p = 0; p < parts; ++p) {
                sum[0][p] += (x[p] + x[parts + p]) + (x[2 * parts + p] + x[3 * parts + p]);
            }
        }
    }
    if constexpr (few > 0) {
        stored const* const x =
            reinterpret_cast<stored const*>(run(length<few * width>{}, begin + looped * width));
        CASTNET_UNROLL
        for (size_t k = 0; k < few; ++k) {
            CASTNET_UNROLL
            for (size_t p = 0; p < parts; ++p) {
                auto& to = sum[k % 2][p];
                to = k < 2 && looped == 0 ? x[k * parts + p] : to + x[k * parts + p];
            }
        }
    }
    if constexpr (Count % width != 0) {
        run_parts<T> rest;
        read_rest<T, Count>(run, begin, T(0), rest);
        CASTNET_UNROLL
        for (size_t p = 0; p < parts; ++p) {
            sum[1][p] += rest[p];
        }
    }
    CASTNET_UNROLL
    for (size_t p = 0; p < parts; ++p) {
        total[p] = Count != width ? sum[0][p] + sum[1][p] : sum[0][p];
    }
}

// Floats are added by sixteens, and these sums in double in runs of more than 256.
template <InVectors T, size_t Count, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE double sum_of_run(Run const& run) {
    constexpr size_t width = run_width<T>, block = run_block * width;
    run_parts<T> sum;
    if constexpr (Count <= block) {
        sum_of_block<T, Count>(run, 0, sum);
        return static_cast<double>(join_parts<T, in_registers<T>::parts>(sum, plus));
    } else {
        constexpr size_t whole = Count / block * block;
        wide_lanes total = {};
        for (size_t i = 0; i != whole; i += block) {
            sum_of_block<T, block>(run, i, sum);
            join_wide<T>(sum, total, plus);
        }
        if constexpr (Count != whole) {
            sum_of_block<T, Count - whole>(run, whole, sum);
            join_wide<T>(sum, total, plus);
        }
        return join_parts<double, wide_parts>(total, plus);
    }
}

// The sum of whole numbers as a Wide one, of 64 bits; of blocks of small ones in 32 bits first. In
// loops of which compilers make vectors themselves. (g++ converts vectors number by number.)
template <std::integral T, size_t Count, class Wide, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE Wide sum_of_integers(Run const& run) {
    using sum = std::conditional_t<(sizeof(T) <= 2), std::int32_t, Wide>;
    constexpr size_t block = run_block * run_width<T>, rest = Count % block;
    auto const sum_up = [](T const* x, size_t count) __attribute__((always_inline)) {
        sum total = 0;
        for (size_t i = 0; i != count; ++i) {
            total += static_cast<sum>(x[i]);
        }
        return static_cast<Wide>(total);
    };
    Wide total = 0;
    for (size_t i = 0; i != Count - rest; i += block) {
        total += sum_up(run(length<block>{}, i), block);
    }
    if constexpr (rest > 0) {
        total += sum_up(run(length<rest>{}, Count - rest), rest);
    }
    return total;
}

// Of a run that is no longer than a block. Floats are multiplied by fours, and these products in
// double.
template <InVectors T, size_t Count, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE double product_of_run(Run const& run) {
    using stored = typename in_registers<T>::stored;
    constexpr size_t width = run_width<T>, few = Count / width, parts = in_registers<T>::parts;
    constexpr size_t products = (few + (Count % width != 0 ? 1 : 0) + 3) / 4;
    stored const* const x = reinterpret_cast<stored const*>(run(length<few * width>{}, 0));
    run_parts<T> four[products];
    CASTNET_UNROLL
    for (size_t k = 0; k < few; ++k) {
        CASTNET_UNROLL
        for (size_t p = 0; p < parts; ++p) {
            auto& to = four[k / 4][p];
            to = k % 4 == 0 ? x[k * parts + p] : to * x[k * parts + p];
        }
    }
    if constexpr (Count % width != 0) {
        run_parts<T> rest;
        read_rest<T, Count>(run, 0, T(1), rest);
        CASTNET_UNROLL
        for (size_t p = 0; p < parts; ++p) {
            auto& to = four[few / 4][p];
            to = few % 4 == 0 ? rest[p] : to * rest[p];
        }
    }
    wide_lanes total;
    CASTNET_UNROLL
    for (size_t p = 0; p < wide_parts; ++p) {
        total[p] = typename in_registers<double>::type{} + 1.0;
    }
    CASTNET_UNROLL
    for (size_t k = 0; k < products; ++k) {
        join_wide<T>(four[k], total, multiplies);
    }
    return join_parts<double, wide_parts>(total, multiplies);
}

// Adds the sums of columns from row `begin` to row `end` to total. (No lambda, as above. clang
// would unroll the loop over a known number of rows, and read column by column.)
template <InVectors T, size_t Vectors, class Wide, size_t Totals, class Rows>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void add_rows(Rows const& rows, size_t begin, size_t end,
                                                         Wide (&total)[Totals]) {
    using stored = typename in_registers<T>::stored;
    typename in_registers<T>::type sum[Vectors] = {};
    CASTNET_OPAQUE(end);
    for (size_t i = begin; i != end; ++i) {
        stored const* const x = reinterpret_cast<stored const*>(rows(i));
        CASTNET_UNROLL
        for (size_t k = 0; k < Vectors; ++k) {
            sum[k] += x[k];
        }
    }
    CASTNET_UNROLL
    for (size_t k = 0; k < Vectors; ++k) {
        join_part<T>(sum[k], total + k * (Totals / Vectors), plus);
    }
}

// The sums of columns, as many as Vectors have lanes: rows(i) gives the address of row i, which is
// there until it is called again. Floats are added by sixteens, and these sums in double where
// there are more than 256 rows.
template <InVectors T, size_t Count, size_t Vectors, class Rows>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void sum_of_columns(Rows const& rows, double* sums) {
    constexpr size_t few = 16, vectors = Vectors * in_registers<T>::parts;
    using wide = std::conditional_t<(Count > few * few), double, T>;
    typename in_registers<wide>::type total[vectors * (sizeof(wide) / sizeof(T))] = {};
    for (size_t i = 0; i != Count - Count % few; i += few) {
        add_rows<T, vectors>(rows, i, i + few, total);
    }
    if constexpr (Count % few != 0) {
        add_rows<T, vectors>(rows, Count - Count % few, Count, total);
    }
    wide numbers[Vectors * run_width<T>];
    std::memcpy(numbers, total, sizeof numbers);
    for (size_t j = 0; j < Vectors * run_width<T>; ++j) {
        sums[j] = static_cast<double>(numbers[j]);
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
