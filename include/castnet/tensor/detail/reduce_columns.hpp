// Reductions across the last axis: neighbours at once, each by itself.
#pragma once

#include <castnet/cpu/vector.hpp>
#include <castnet/tensor/detail/loop.hpp>
#include <castnet/tensor/detail/neighbours.hpp>
#include <castnet/tensor/detail/reduced_axes.hpp>
#include <castnet/tensor/detail/reduction.hpp>

#include <algorithm>
#include <cstring>

namespace castnet::detail {

template <class R, class T>
inline constexpr bool takes_four =
    requires(R total, T const* const (&rows)[4]) { total.take_four(rows); };

// How many columns are reduced at once in vectors: those for which half of the registers suffice,
// of which a reduction needs one or more for each vector.
template <class R, class T>
inline constexpr size_t most_columns = [] {
    constexpr size_t half = size_t{cpu::vector_bytes} * cpu::vector_registers / 2 / sizeof(T);
    size_t each = 1;
    if constexpr (requires { R::registers_for_columns; }) {
        each = R::registers_for_columns;
    }
    return std::clamp(half / each, run_width<T>, 4 * run_width<T>);
}();

// Whether a reduction takes rows in vectors, as many columns as Lanes.
template <template <class, size_t> class Reduction, class T, size_t Lanes = run_width<T>>
inline constexpr bool takes_rows =
    requires(Reduction<T, Lanes> reduction, T const* (*rows)(size_t)) {
        reduction.template take_rows<1>(rows);
    };

// Calls take(i0, …) with the index of a position in row-major order.
template <class S, class Take, class... Index>
CASTNET_ALWAYS_INLINE auto at_position(size_t position, Take const& take, Index... index) {
    constexpr size_t rank = S::rank - sizeof...(Index);
    if constexpr (rank == 0) {
        return take(index...);
    } else if constexpr (rank == 1) {
        return take(position, index...);
    } else {
        constexpr size_t extent = S::extent[rank - 1];
        return at_position<S>(position / extent, take, position % extent, index...);
    }
}

// Takes Lanes neighbours from `begin` on, each by itself.
template <size_t Lanes, class S, class Reduced, template <class, size_t> class Reduction, class T,
          class X, class... Index>
CASTNET_ALWAYS_INLINE void take_columns(Reduction<T, Lanes>& totals, X const& x, size_t begin,
                                        Index... index) {
    if constexpr (takes_rows<Reduction, T, Lanes>) {
        alignas(64) T room[Lanes];
        totals.template take_rows<Reduced::count>(
            [&](size_t position) __attribute__((always_inline)) {
                return at_position<decltype(without_last(Reduced{}))>(
                    position, [&](auto... at) __attribute__((always_inline)) {
                        return elements_at<Lanes, S>(x, room, begin, (index + at)...);
                    });
            });
    } else {
        alignas(64) T room[4][Lanes];
        T const* rows[4];
        size_t position = 0;
        for_each_row<Reduced>([&](auto... at) __attribute__((always_inline)) {
            size_t const row = position++ % 4;
            rows[row] = elements_at<Lanes, S>(x, room[row], begin, (index + at)...);
            if constexpr (takes_four<Reduction<T, Lanes>, T>) {
                if (row == 3) {
                    totals.take_four(rows);
                }
            } else {
                totals.template take<0>(rows[row], position - 1);
            }
        });
        if constexpr (takes_four<Reduction<T, Lanes>, T>) {
            for (size_t row = 0; row != Reduced::count % 4; ++row) {
                totals.template take<0>(rows[row], position);
            }
        }
    }
}

// Reduces them.
template <template <class, size_t> class Reduction, size_t Lanes, class S, class Reduced, class X,
          class Result, class... Index>
CASTNET_ALWAYS_INLINE void reduce_columns(X const& x, size_t begin, Result* out, Index... index) {
    using T = typename X::value_type;
    Reduction<T, Lanes> totals;
    take_columns<Lanes, S, Reduced, Reduction>(totals, x, begin, index...);
    Result results[Lanes];
    for (size_t j = 0; j < Lanes; ++j) {
        results[j] = totals.get(j, Reduced::count);
    }
    std::memcpy(out, results, sizeof results);
}

} // namespace castnet::detail
