// Reductions of matrices whose rows are too short for vectors: turned, or several rows as one.
#pragma once

#include <castnet/tensor/detail/reduce_columns.hpp>
#include <castnet/tensor/views.hpp>

#include <algorithm>
#include <numeric>
#include <type_traits>

namespace castnet::detail {

// Whether a reduction takes runs of Count elements in vectors.
template <class R, size_t Count>
inline constexpr bool takes_runs =
    requires(R reduction, char const* run) { reduction.template take_run<Count>(run, size_t{}); };

// Whether rows of Length elements are better turned, so that each lane reduces a row.
template <template <class, size_t> class Reduction, class T, size_t Length>
inline constexpr bool turns_rows = InVectors<T> && Length > 1 && Length <= 64 && (requires {
                                       typename Reduction<T, 1>::joins_slowly;
                                   } || (Length > 8 && !takes_runs<Reduction<T, 1>, Length>));

// Reduces rows, one after the other in memory, as many at a time as columns.
template <template <class, size_t> class Reduction, size_t Rows, size_t Length, class T,
          class Result>
CASTNET_ALWAYS_INLINE void reduce_turned_rows(T const* rows, Result* out) {
    constexpr size_t most = most_columns<Reduction<T, 1>, T>;
    constexpr size_t lanes = Rows < most ? run_width<T> : most;
    static_assert(Rows >= lanes);
    for (size_t i = 0; i < Rows; i += lanes) {
        size_t const first = std::min(i, Rows - lanes); // the last ones begin earlier
        alignas(64) T turned[Length * lanes];
        transpose_fixed<Length, lanes>(rows + first * Length, Length, turned, lanes);
        using S = shape<Length, lanes>;
        reduce_columns<Reduction, lanes, S, shape<Length, 1>>(tensor_view<T const, S>{turned}, 0,
                                                              out + first, size_t{0});
    }
}

// Whether the columns of a matrix of such rows are better turned, so that each is reduced as runs,
// which may have elements in common.
template <template <class, size_t> class Reduction, class T, size_t Rows, size_t Length>
constexpr bool turns_columns() {
    constexpr size_t few = 256; // rows at a time
    return InVectors<T> && Length < run_width<T> && Rows >= few &&
           requires { typename Reduction<T, 1>::joins_slowly; } && takes_runs<Reduction<T, 1>, few>;
}
template <template <class, size_t> class Reduction, size_t Rows, size_t Length, class T,
          class Result>
CASTNET_ALWAYS_INLINE void reduce_turned_columns(T const* rows, Result* out) {
    constexpr size_t few = 256;
    Reduction<T, 1> totals[Length];
    for (size_t i = 0; i < Rows; i += few) {
        size_t const first = std::min(i, Rows - few); // the last ones begin earlier
        alignas(64) T turned[Length * few];
        transpose_fixed<Length, few>(rows + first * Length, Length, turned, few);
        for (size_t j = 0; j != Length; ++j) {
            totals[j].template take_run<few>(
                [run = turned + j * few](auto, size_t begin)
                    __attribute__((always_inline)) { return run + begin; },
                first);
        }
    }
    for (size_t j = 0; j != Length; ++j) {
        out[j] = totals[j].get(0, Rows);
    }
}

// How many rows of so few columns are reduced as one, which fills vectors.
template <size_t Length>
inline constexpr size_t rows_as_one = 16 / std::gcd(size_t{16}, Length);

template <template <class, size_t> class Reduction, class T, size_t Rows, size_t Length>
inline constexpr bool joins_rows =
    Length < 16 && Rows >= 4 * rows_as_one<Length> &&
    (InVectors<T> || std::is_same_v<typename Reduction<T, 1>::result, T>) &&
    requires { typename Reduction<T, 1>::part; };
template <template <class, size_t> class Reduction, size_t Rows, size_t Length, class T,
          class Result>
CASTNET_ALWAYS_INLINE void reduce_joined_rows(T const* rows, Result* out) {
    constexpr size_t joined = rows_as_one<Length>, lanes = joined * Length;
    using S = shape<Rows / joined, lanes>;
    Reduction<T, lanes> totals;
    take_columns<lanes, S, shape<Rows / joined, 1>, Reduction>(
        totals, tensor_view<T const, S>{rows}, 0, size_t{0});
    if constexpr (Rows % joined != 0) {
        constexpr size_t rest = Rows % joined * Length;
        T last[lanes];
        std::copy_n(rows + (Rows * Length - rest), rest, last);
        std::fill_n(last + rest, lanes - rest, Reduction<T, lanes>::neutral);
        totals.template take<0>(last, 0);
    }
    for (size_t j = 0; j != Length; ++j) {
        for (size_t k = j + Length; k < lanes; k += Length) {
            totals.join(j, totals, k);
        }
        out[j] = totals.get(j, Rows);
    }
}

} // namespace castnet::detail
