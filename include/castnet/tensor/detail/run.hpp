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
    using words = cpu::vec<std::int64_t>;
    words const all = reinterpret_cast<words const&>(mask);
    std::int64_t any = 0;
    for (size_t j = 0; j < sizeof(words) / sizeof(std::int64_t); ++j) {
        any |= all[j];
    }
    return any != 0;
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
        auto const* const vectors = reinterpret_cast<typename lanes<T, width>::stored const*>(x);
        typename lanes<T, width>::type sum = vectors[0];
        CASTNET_UNROLL
        for (size_t k = 1; k < Count / width; ++k) {
            sum += vectors[k];
        }
        T total = join_lanes<T, width>(sum, plus);
        if constexpr (Count % width != 0) {
            total += sum_of_few<Count % width>(x + Count / width * width);
        }
        return total;
    }
}

// Joins a vector of doubles to total, or the halves of one of floats to total and other. (No
// lambda: nvcc 13.0 crashes.)
template <InVectors T, class Vector, class Wide, class Join>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void join_wide(Vector const& x, Wide& total, Wide& other,
                                                          Join const& join) {
    constexpr size_t width = run_width<T>;
    if constexpr (width == run_width<double>) {
        join(total, x);
    } else {
        using halves = typename lanes<T, width / 2>::type;
        halves const low = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7);
        halves const high = __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
        join(total, __builtin_convertvector(low, Wide));
        join(other, __builtin_convertvector(high, Wide));
    }
}

// The last vector of Count numbers from `begin` on, with `neutral` in place of what the one before
// it has, too.
template <InVectors T, size_t Count, class Run, class Vector>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void read_rest(Run const& run, size_t begin, T neutral,
                                                          Vector& rest) {
    using stored = typename lanes<T, run_width<T>>::stored;
    using mask = typename lanes<T, run_width<T>>::mask;
    constexpr size_t width = run_width<T>;
    mask missing = {};
    for (size_t j = width - Count % width; j < width; ++j) {
        missing[j] = -1;
    }
    Vector const last =
        *reinterpret_cast<stored const*>(run(length<width>{}, begin + Count - width));
    rest = missing ? last : Vector{} + neutral;
}

// The sum of Count numbers from `begin` on, as a vector. Many are added in a loop over four
// vectors: g++ would unroll one over a known number and read its vectors in another order, of which
// processors fetch less ahead.
template <InVectors T, size_t Count, class Run, class Vector>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void sum_of_block(Run const& run, size_t begin,
                                                             Vector& total) {
    using stored = typename lanes<T, run_width<T>>::stored;
    constexpr size_t width = run_width<T>, vectors = Count / width, fours = vectors / 4;
    constexpr size_t looped = vectors > 8 ? fours * 4 : 0, few = vectors - looped;
    Vector sum[2] = {};
    if constexpr (looped > 0) {
        size_t end = begin + looped * width;
        CASTNET_OPAQUE(end);
        for (size_t i = begin; i != end; i += 4 * width) {
            stored const* const x = reinterpret_cast<stored const*>(run(length<4 * width>{}, i));
            sum[0] += (x[0] + x[1]) + (x[2] + x[3]);
        }
    }
    if constexpr (few > 0) {
        stored const* const x =
            reinterpret_cast<stored const*>(run(length<few * width>{}, begin + looped * width));
        CASTNET_UNROLL
        for (size_t k = 0; k < few; ++k) {
            sum[k % 2] = k < 2 && looped == 0 ? x[k] : sum[k % 2] + x[k];
        }
    }
    if constexpr (Count % width != 0) {
        Vector rest;
        read_rest<T, Count>(run, begin, T(0), rest);
        sum[1] += rest;
    }
    total = sum[0];
    if constexpr (Count != width) {
        total += sum[1];
    }
}

// Floats are added by sixteens, and these sums in double in runs of more than 256.
template <InVectors T, size_t Count, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE double sum_of_run(Run const& run) {
    using vector = typename lanes<T, run_width<T>>::type;
    using wide = typename lanes<double, run_width<double>>::type;
    constexpr size_t width = run_width<T>, block = run_block * width;
    vector sum;
    if constexpr (Count <= block) {
        sum_of_block<T, Count>(run, 0, sum);
        return static_cast<double>(join_lanes<T, width>(sum, plus));
    } else {
        constexpr size_t whole = Count / block * block;
        wide total = {}, other = {};
        for (size_t i = 0; i != whole; i += block) {
            sum_of_block<T, block>(run, i, sum);
            join_wide<T>(sum, total, other, plus);
        }
        if constexpr (Count != whole) {
            sum_of_block<T, Count - whole>(run, whole, sum);
            join_wide<T>(sum, total, other, plus);
        }
        total += other;
        return join_lanes<double, run_width<double>>(total, plus);
    }
}

// The sum of small whole numbers as a Wide one: of blocks in 32 bits first, in loops of which
// compilers make vectors themselves. (g++ converts vectors of them number by number.)
template <std::integral T, size_t Count, class Wide, class Run>
    requires(sizeof(T) <= 2)
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE Wide sum_of_integers(Run const& run) {
    constexpr size_t block = run_block * run_width<T>, rest = Count % block;
    auto const sum = [](T const* x, size_t count) __attribute__((always_inline)) {
        std::int32_t total = 0;
        for (size_t i = 0; i != count; ++i) {
            total += static_cast<std::int32_t>(x[i]);
        }
        return static_cast<Wide>(total);
    };
    Wide total = 0;
    for (size_t i = 0; i != Count - rest; i += block) {
        total += sum(run(length<block>{}, i), block);
    }
    if constexpr (rest > 0) {
        total += sum(run(length<rest>{}, Count - rest), rest);
    }
    return total;
}

// The sum of whole numbers as a Wide one, of 64 bits.
template <std::integral T, size_t Count, class Wide, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE Wide sum_of_integers(Run const& run) {
    // (of registers' width: g++ computes wider ones number by number)
    constexpr size_t width = cpu::vector_bytes / sizeof(Wide), vectors = 4, block = vectors * width;
    typedef Wide wide __attribute__((vector_size(width * sizeof(Wide))));
    typedef T stored
        __attribute__((vector_size(width * sizeof(T)), aligned(alignof(T)), may_alias));
    wide sum[vectors] = {};
    for (size_t i = 0; i != Count - Count % block; i += block) {
        stored const* const x = reinterpret_cast<stored const*>(run(length<block>{}, i));
        CASTNET_UNROLL
        for (size_t k = 0; k < vectors; ++k) {
            sum[k] += __builtin_convertvector(x[k], wide);
        }
    }
    wide const all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    Wide total = 0;
    for (size_t j = 0; j < width; ++j) {
        total += all[j];
    }
    if constexpr (Count % block != 0) {
        T const* const x = run(length<Count % block>{}, Count - Count % block);
        for (size_t j = 0; j < Count % block; ++j) {
            total += static_cast<Wide>(x[j]);
        }
    }
    return total;
}

// Of a run that is no longer than a block. Floats are multiplied by fours, and these products in
// double.
template <InVectors T, size_t Count, class Run>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE double product_of_run(Run const& run) {
    using vector = typename lanes<T, run_width<T>>::type;
    using stored = typename lanes<T, run_width<T>>::stored;
    using wide = typename lanes<double, run_width<double>>::type;
    constexpr size_t width = run_width<T>, few = Count / width;
    stored const* const x = reinterpret_cast<stored const*>(run(length<few * width>{}, 0));
    vector four[(few + 4) / 4];
    CASTNET_UNROLL
    for (size_t k = 0; k < few; ++k) {
        four[k / 4] = k % 4 == 0 ? x[k] : four[k / 4] * x[k];
    }
    if constexpr (Count % width != 0) {
        vector rest;
        read_rest<T, Count>(run, 0, T(1), rest);
        four[few / 4] = few % 4 == 0 ? rest : four[few / 4] * rest;
    }
    wide total = wide{} + 1.0, other = total;
    CASTNET_UNROLL
    for (size_t k = 0; k < (Count + 4 * width - 1) / (4 * width); ++k) {
        join_wide<T>(four[k], total, other, multiplies);
    }
    total *= other;
    return join_lanes<double, run_width<double>>(total, multiplies);
}

// Adds the sums of columns from row `begin` to row `end` to total. (No lambda, as above.)
template <InVectors T, size_t Vectors, class Wide, class Rows>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void add_rows(Rows const& rows, size_t begin, size_t end,
                                                         Wide (&total)[Vectors]) {
    using vector = typename lanes<T, run_width<T>>::type;
    using stored = typename lanes<T, run_width<T>>::stored;
    vector sum[Vectors] = {};
    for (size_t i = begin; i != end; ++i) {
        stored const* const x = reinterpret_cast<stored const*>(rows(i));
        CASTNET_UNROLL
        for (size_t k = 0; k < Vectors; ++k) {
            sum[k] += x[k];
        }
    }
    CASTNET_UNROLL
    for (size_t k = 0; k < Vectors; ++k) {
        total[k] += __builtin_convertvector(sum[k], Wide);
    }
}

// The sums of columns, as many as Vectors have lanes: rows(i) gives the address of row i, which is
// there until it is called again. Floats are added by sixteens, and these sums in double where
// there are more than 256 rows.
template <InVectors T, size_t Count, size_t Vectors, class Rows>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void sum_of_columns(Rows const& rows, double* sums) {
    constexpr size_t few = 16;
    using wide =
        typename lanes<std::conditional_t<(Count > few * few), double, T>, run_width<T>>::type;
    wide total[Vectors] = {};
    for (size_t i = 0; i != Count - Count % few; i += few) {
        add_rows<T>(rows, i, i + few, total);
    }
    if constexpr (Count % few != 0) {
        add_rows<T>(rows, Count - Count % few, Count, total);
    }
    for (size_t k = 0; k < Vectors; ++k) {
        for (size_t j = 0; j < run_width<T>; ++j) {
            sums[k * run_width<T> + j] = total[k][j];
        }
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
