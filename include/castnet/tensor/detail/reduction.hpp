// Accumulators of reductions, Lanes of them side by side, each for one result or for a part of one.
// They hold
//
//   result                        the type of an answer
//   take<Step>(x, position, n)    x[j], at position + Step * j of the reduced part, goes to lane j
//                                 for j < n
//   take_four(rows, position)     optional: as much of each of four rows, for all lanes
//   take_run<Count>(run, position)   optional, of one lane: Count neighbours (run.hpp)
//   take_rows<Count>(rows)        optional, first: all of Count rows for all lanes (run.hpp)
//   registers_for_columns         optional: how many take_rows needs for a vector (1, if not said)
//   joins_slowly                  optional: a type, if taking a short run means to join many lanes
//   join(j, other, k)             adds lane k of another one, or of its own, to lane j
//   get(j, count)                 lane j's answer for `count` elements
//   part                          a type, where the answers of parts, for a `count` of 1, may be
//                                 taken as elements of that type, for the answer of the whole
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/select.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/tensor/detail/run.hpp>
#include <castnet/tensor/detail/run_extremes.hpp>
#include <castnet/tensor/detail/run_truth.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace castnet::detail {

template <class T>
using integral_sum =
    std::conditional_t<std::is_signed_v<T> || std::is_same_v<T, bool>, std::int64_t, std::uint64_t>;

template <class T>
using sum_result = std::conditional_t<std::is_integral_v<T>, integral_sum<T>, T>;

// long double stays as it is
template <class T>
using sum_accumulator =
    std::conditional_t<std::is_integral_v<T>, integral_sum<T>, decltype(T{} + double{})>;

// Floats are added by fours, and these sums in double, or in runs (run.hpp).
template <class T, size_t Lanes>
struct sum_reduction {
    using result = sum_result<T>;
    using part = result;
    using accumulator = sum_accumulator<T>;
    static constexpr T neutral = 0;
    accumulator total[Lanes];

    CASTNET_HD sum_reduction() {
        for (accumulator& one : total) {
            one = static_cast<accumulator>(-0.0); // plus x is x, so compilers do not add it
        }
    }
    template <size_t>
    CASTNET_HD CASTNET_ALWAYS_INLINE void take(T const* x, size_t) {
        for (size_t j = 0; j < Lanes; ++j) {
            total[j] += static_cast<accumulator>(x[j]);
        }
    }
    CASTNET_HD CASTNET_ALWAYS_INLINE void take_four(T const* const (&x)[4])
        requires std::is_floating_point_v<T>
    {
        for (size_t j = 0; j < Lanes; ++j) {
            total[j] += static_cast<accumulator>((x[0][j] + x[1][j]) + (x[2][j] + x[3][j]));
        }
    }
    template <size_t Count, class Run>
    CASTNET_ALWAYS_INLINE void take_run(Run const& run, size_t)
        requires InVectors<T>
    {
        if constexpr (fills_vector<Count, T>) {
            total[0] += sum_of_run<T, Count>(run);
        } else {
            total[0] += static_cast<accumulator>(sum_of_few<Count>(run(length<Count>{}, 0)));
        }
    }
    template <size_t Count, class Run>
    CASTNET_ALWAYS_INLINE void take_run(Run const& run, size_t)
        requires(std::integral<T> && !std::same_as<T, bool> && Count >= 4 * run_width<accumulator>)
    {
        total[0] += sum_of_integers<T, Count, accumulator>(run);
    }
    template <size_t Count, class Rows>
    CASTNET_ALWAYS_INLINE void take_rows(Rows const& rows)
        requires fills_vectors<Lanes, T>
    {
        sum_of_columns<T, Count, Lanes / run_width<T>>(rows, total);
    }
    CASTNET_HD CASTNET_ALWAYS_INLINE void join(size_t j, sum_reduction const& other, size_t k) {
        total[j] += other.total[k];
    }
    CASTNET_HD CASTNET_ALWAYS_INLINE result get(size_t j, size_t) const {
        return static_cast<result>(total[j]);
    }
};

template <class T, size_t Lanes>
struct mean_reduction : sum_reduction<T, Lanes> {
    using result = std::conditional_t<std::is_integral_v<T>, double, T>;
    using part = result;
    CASTNET_HD CASTNET_ALWAYS_INLINE result get(size_t j, size_t count) const {
        using wide = decltype(T{} + double{});
        wide const sum = static_cast<wide>(this->total[j]), of = static_cast<wide>(count);
        if constexpr (std::is_same_v<result, float>) { // for which the inverse is exact enough
            return static_cast<result>(sum * (1 / of));
        } else {
            return static_cast<result>(sum / of);
        }
    }
};

// Floats are multiplied by fours, and these products in double.
template <class T, size_t Lanes>
struct product_reduction {
    using result = sum_result<T>;
    using part = result;
    using accumulator = sum_accumulator<T>;
    static constexpr T neutral = 1;
    accumulator product[Lanes];

    CASTNET_HD product_reduction() {
        for (accumulator& one : product) {
            one = 1;
        }
    }
    template <size_t>
    CASTNET_HD CASTNET_ALWAYS_INLINE void take(T const* x, size_t) {
        for (size_t j = 0; j < Lanes; ++j) {
            product[j] *= static_cast<accumulator>(x[j]);
        }
    }
    CASTNET_HD CASTNET_ALWAYS_INLINE void take_four(T const* const (&x)[4])
        requires std::is_floating_point_v<T>
    {
        for (size_t j = 0; j < Lanes; ++j) {
            product[j] *= static_cast<accumulator>((x[0][j] * x[1][j]) * (x[2][j] * x[3][j]));
        }
    }
    template <size_t Count, class Run>
    CASTNET_ALWAYS_INLINE void take_run(Run const& run, size_t)
        requires fills_vector<Count / 2, T> && (Count <= run_block * run_width<T>)
    {
        product[0] *= product_of_run<T, Count>(run);
    }
    CASTNET_HD CASTNET_ALWAYS_INLINE void join(size_t j, product_reduction const& other, size_t k) {
        product[j] *= other.product[k];
    }
    CASTNET_HD CASTNET_ALWAYS_INLINE result get(size_t j, size_t) const {
        return static_cast<result>(product[j]);
    }
};

// Whether x takes the place of the largest (Sign 1) or smallest (Sign -1) element so far: a NaN
// takes that of numbers, and nothing takes that of a NaN.
template <int Sign, class T>
CASTNET_HD constexpr bool beats(T x, T best) {
    return (Sign > 0 ? best < x : x < best) | (x != x);
}

template <int Sign, class T>
constexpr T worst() {
    using limits = std::numeric_limits<T>;
    if constexpr (limits::has_infinity) {
        return Sign > 0 ? -limits::infinity() : limits::infinity();
    } else {
        return Sign > 0 ? limits::lowest() : limits::max();
    }
}

// An unsigned integer as wide as T where there is one, so that vectors of both have as many lanes.
template <class T>
using lane_number = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, size_t>;
template <class T> // the same for 0 or 1
using lane_flag = std::conditional_t<sizeof(T) == 1, std::uint8_t, lane_number<T>>;

template <class T, size_t Lanes, int Sign>
struct extreme_value {
    using result = T;
    using part = T;
    static constexpr T neutral = worst<Sign, T>(), nan = std::numeric_limits<T>::quiet_NaN();
    static constexpr bool can_be_nan = std::is_floating_point_v<T>;
    static constexpr size_t registers_for_columns = can_be_nan ? 2 : 1;
    T best[Lanes]; // of numbers
    lane_number<T> has_nan[can_be_nan ? Lanes : 1] = {};

    CASTNET_HD extreme_value() {
        for (T& one : best) {
            one = neutral;
        }
    }
    CASTNET_HD static T better(T a, T b) { return Sign > 0 ? (a < b ? b : a) : (b < a ? b : a); }

    template <size_t>
    CASTNET_HD CASTNET_ALWAYS_INLINE void take(T const* x, size_t) {
        for (size_t j = 0; j < Lanes; ++j) {
            best[j] = better(best[j], x[j]);
            if constexpr (can_be_nan) {
                has_nan[j] = x[j] != x[j] ? 1 : has_nan[j];
            }
        }
    }
    CASTNET_ALWAYS_INLINE void take_four(T const* const (&x)[4]) {
        for (size_t j = 0; j < Lanes; ++j) {
            T const a = x[0][j], b = x[1][j], c = x[2][j], d = x[3][j];
            best[j] = better(best[j], better(better(a, b), better(c, d)));
            if constexpr (can_be_nan) {
                bool const any_nan = __builtin_isunordered(a, b) | __builtin_isunordered(c, d);
                has_nan[j] = any_nan ? 1 : has_nan[j];
            }
        }
    }
    template <size_t Count, class Run>
    CASTNET_ALWAYS_INLINE void take_run(Run const& run, size_t position)
        requires(InVectors<T> && Count != 4) // of which take_four makes vectors across rows
    {
        T number;
        bool any_nan;
        if constexpr (fills_vector<Count, T>) {
            extreme_of_run<Sign, T, Count>(run, number, any_nan);
        } else {
            extreme_of_few<Sign, Count>(run(length<Count>{}, 0), number, any_nan);
        }
        best[0] = position == 0 ? number : better(best[0], number);
        has_nan[0] = any_nan ? 1 : has_nan[0];
    }
    template <size_t Count, class Run>
    CASTNET_ALWAYS_INLINE void take_run(Run const& run, size_t)
        requires(std::integral<T> && !std::same_as<T, bool> && Count >= run_width<T>)
    {
        best[0] = better(best[0], extreme_of_run<Sign, T, Count>(run));
    }
    template <size_t Count, class Rows>
    CASTNET_ALWAYS_INLINE void take_rows(Rows const& rows)
        requires fills_vectors<Lanes, T>
    {
        extremes_of_columns<Sign, T, Count, Lanes / run_width<T>>(rows, best, has_nan);
    }
    template <size_t Count, class Rows>
    CASTNET_ALWAYS_INLINE void take_rows(Rows const& rows)
        requires(std::integral<T> && !std::same_as<T, bool> && Lanes % run_width<T> == 0)
    {
        extremes_of_columns<Sign, T, Count, Lanes>(rows, best);
    }
    CASTNET_HD CASTNET_ALWAYS_INLINE void join(size_t j, extreme_value const& other, size_t k) {
        best[j] = better(best[j], other.best[k]);
        if constexpr (can_be_nan) {
            has_nan[j] |= other.has_nan[k];
        }
    }
    CASTNET_HD result get(size_t j, size_t) const {
        return can_be_nan && has_nan[j] != 0 ? nan : best[j];
    }
};

// Whether place_in_run takes runs of Count elements.
template <size_t Count, class T>
inline constexpr bool place_found_in_vectors =
    (fills_vector<Count, T> && Count < std::numeric_limits<std::int32_t>::max()) ||
    (std::integral<T> && !std::same_as<T, bool> && Count >= run_width<T>);

// The first place of the extreme value.
template <class T, size_t Lanes, int Sign>
struct extreme_place {
    using result = size_t;
    using joins_slowly = void;
    using place = lane_number<T>;
    static constexpr size_t registers_for_columns = 2;
    static constexpr T neutral = worst<Sign, T>();
    static constexpr place nowhere = std::numeric_limits<place>::max();
    T best[Lanes];
    place where[Lanes];

    CASTNET_HD extreme_place() {
        for (size_t j = 0; j < Lanes; ++j) {
            best[j] = neutral;
            where[j] = nowhere;
        }
    }
    template <size_t Step>
    CASTNET_HD CASTNET_ALWAYS_INLINE void take(T const* x, size_t position) {
        for (size_t j = 0; j < Lanes; ++j) {
            place const here = static_cast<place>(position + Step * j), before = where[j];
            T const next = x[j], so_far = best[j];
            bool const better = beats<Sign>(next, so_far) & (so_far == so_far);
            bool const wins = better | (before == nowhere);
            best[j] = wins ? next : so_far;
            where[j] = wins ? here : before;
        }
    }
    template <size_t Count, class Run>
    CASTNET_ALWAYS_INLINE void take_run(Run const& run, size_t position)
        requires place_found_in_vectors<Count, T>
    {
        extreme_place other;
        other.where[0] =
            static_cast<place>(position + place_in_run<Sign, T, Count>(run, other.best[0]));
        join(0, other, 0);
    }
    template <size_t Count, class Rows>
    CASTNET_ALWAYS_INLINE void take_rows(Rows const& rows)
        requires(fills_vectors<Lanes, T> && Count < std::numeric_limits<std::int32_t>::max())
    {
        places_in_columns<Sign, T, Count, Lanes / run_width<T>>(rows, best, where);
    }
    CASTNET_HD CASTNET_ALWAYS_INLINE void join(size_t j, extreme_place const& other, size_t k) {
        T const x = other.best[k];
        bool const tie = best[j] == x || (best[j] != best[j] && x != x);
        bool const wins =
            tie ? other.where[k] < where[j] : beats<Sign>(x, best[j]) && best[j] == best[j];
        best[j] = wins ? x : best[j];
        where[j] = wins ? other.where[k] : where[j];
    }
    CASTNET_HD CASTNET_ALWAYS_INLINE result get(size_t j, size_t) const { return where[j]; }
};

// Whether any element is not 0, or all are.
template <class T, size_t Lanes, bool Any>
struct truth {
    using result = bool;
    using part = bool;
    static constexpr T neutral = static_cast<T>(Any ? 0 : 1);
    lane_flag<T> decided[Lanes] = {}; // by an element that is not 0, or by one that is

    template <size_t>
    CASTNET_HD CASTNET_ALWAYS_INLINE void take(T const* x, size_t) {
        for (size_t j = 0; j < Lanes; ++j) {
            decided[j] |= (x[j] != T(0)) == Any ? 1 : 0;
        }
    }
    template <size_t Count, class Run>
    CASTNET_ALWAYS_INLINE void take_run(Run const& run, size_t)
        requires(ComparedInVectors<T> && Count >= run_width<T>)
    {
        if (decided[0] == 0 && truth_in_run<!Any, Count, T>(run)) {
            decided[0] = 1;
        }
    }
    CASTNET_HD CASTNET_ALWAYS_INLINE void join(size_t j, truth const& other, size_t k) {
        decided[j] |= other.decided[k];
    }
    CASTNET_HD CASTNET_ALWAYS_INLINE result get(size_t j, size_t) const {
        return (decided[j] != 0) == Any;
    }
};

} // namespace castnet::detail
