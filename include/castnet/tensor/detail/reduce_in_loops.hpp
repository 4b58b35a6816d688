// Reductions of expressions on the host: in vectors along the last axis, in lanes across it.
#pragma once

#include <castnet/tensor/detail/loop.hpp>
#include <castnet/tensor/detail/reduced_axes.hpp>
#include <castnet/tensor/detail/reduction.hpp>
#include <castnet/tensor/detail/store.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

namespace castnet::detail {

// Whether neighbours on the last axis lie in memory as neighbours.
template <class X>
constexpr bool lies_in_runs() {
    if constexpr (!requires { typename X::strides_type; }) {
        return false;
    } else {
        constexpr size_t rank = X::shape_type::rank;
        return X::is_flat || X::strides_type::step[rank > 0 ? rank - 1 : 0] == 1;
    }
}
template <class X>
inline constexpr bool is_in_memory = lies_in_runs<X>();

// Count elements of an expression along the last axis, as an array: where they lie, or in `room`.
template <size_t Count, class S, class X, class T, class... Index>
CASTNET_ALWAYS_INLINE T const* elements_at(X const& x, T* room, size_t begin, Index... index) {
    if constexpr (X::is_flat) {
        using steps = row_major<S>;
        auto const at = [&]<size_t... Axis>(std::index_sequence<Axis...>) {
            return ((index * steps::step[Axis]) + ... + begin);
        }(std::index_sequence_for<Index...>{});
        if constexpr (requires { x.data(); }) {
            return x.data() + at;
        } else {
            store_for_vectors<is_cheap_operand<X>, Count>(
                room, [&](size_t i) __attribute__((always_inline)) { return x.flat(at + i); });
            return room;
        }
    } else {
        if constexpr (requires { x.data(); }) {
            if constexpr (X::strides_type::step[S::rank - 1] == 1) {
                return &x.element(index..., begin);
            }
        }
        store_for_vectors<is_cheap_operand<X>, Count>(room,
                                                      [&](size_t i) __attribute__((always_inline)) {
                                                          return x.element(index..., begin + i);
                                                      });
        return room;
    }
}

template <class R, class T>
inline constexpr bool takes_four =
    requires(R total, T const* const (&rows)[4]) { total.take_four(rows); };

// Adds Count neighbours along the last axis, in blocks; the last block is filled up.
template <size_t Lanes, size_t Count, class S, class R, class X, class... Index>
CASTNET_ALWAYS_INLINE void reduce_run(R& total, X const& x, size_t position, Index... index) {
    using T = typename X::value_type;
    constexpr size_t block = 4 * Lanes, rest = Count % block;
    R longer = total; // a local copy stays in registers
    alignas(64) T room[block];
    auto const add = [&](T const* from, size_t at) __attribute__((always_inline)) {
        T const* const four[4] = {from, from + Lanes, from + 2 * Lanes, from + 3 * Lanes};
        if constexpr (takes_four<R, T>) {
            longer.take_four(four);
        } else {
            for (size_t k = 0; k != 4; ++k) {
                longer.template take<1>(four[k], at + k * Lanes);
            }
        }
    };
    for (size_t i = 0; i != Count - rest; i += block) {
        add(elements_at<block, S>(x, room, i, index...), position + i);
    }
    if constexpr (rest > 0) {
        T const* const from = elements_at<rest, S>(x, room, Count - rest, index...);
        if (from != room) {
            std::copy_n(from, rest, room);
        }
        std::fill_n(room + rest, block - rest, R::neutral);
        add(room, position + Count - rest);
    }
    total = longer;
}

// Whether a reduction takes runs of Count elements in vectors.
template <class R, size_t Count>
inline constexpr bool takes_runs =
    requires(R reduction, char const* run) { reduction.template take_run<Count>(run, size_t{}); };

// The same in vectors; numbers that have to be computed are computed a block at a time.
template <size_t Count, class S, class R, class X, class... Index>
CASTNET_ALWAYS_INLINE void reduce_in_vectors(R& total, X const& x, size_t position,
                                             Index... index) {
    using T = typename X::value_type;
    alignas(64) T room[is_in_memory<X> ? 1 : run_block * run_width<T>];
    auto const run = [&](auto count, size_t begin) __attribute__((always_inline)) {
        return elements_at<count, S, X, T>(x, room, begin, index...);
    };
    total.template take_run<Count>(run, position);
}

// All lanes to the first one
template <size_t Lanes, class R>
CASTNET_ALWAYS_INLINE void join_lanes(R& total) {
    if constexpr (Lanes > 1) {
        for (size_t j = 0; j < Lanes / 2; ++j) {
            total.join(j, total, j + Lanes / 2);
        }
        join_lanes<Lanes / 2>(total);
    }
}

// How many columns are reduced at once in vectors.
template <class T>
inline constexpr size_t most_columns = 4 * run_width<T>;

// Whether a reduction takes rows in vectors, as many columns as Lanes.
template <template <class, size_t> class Reduction, class T, size_t Lanes = most_columns<T>>
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

template <template <class, size_t> class Reduction, size_t... Axes, class X>
CASTNET_ALWAYS_INLINE auto reduce_in_loops(X const& x, std::index_sequence<Axes...> axes);

// Reduces rows that are shorter than a vector and have to be computed: tile by tile.
template <template <class, size_t> class Reduction, class X, class Result>
CASTNET_ALWAYS_INLINE void reduce_short_rows(X const& x, Result* out) {
    using T = typename X::value_type;
    using S = typename X::shape_type;
    constexpr size_t width = S::extent[S::rank - 1];
    for_each_tile<S, true, short_rows_in_tile<S>, width>(x, [&](auto const& tile, auto...) {
        using shape_type = typename std::remove_cvref_t<decltype(tile)>::shape_type;
        alignas(64) T rows[shape_type::count];
        write(tensor_view<T, shape_type>{rows}, tile);
        auto const results = reduce_in_loops<Reduction>(tensor_view<T const, shape_type>{rows},
                                                        std::index_sequence<1>{});
        out = std::copy_n(results.data(), results.size(), out);
    });
}

// Whether rows of Length elements are better turned, so that each lane reduces a row.
template <template <class, size_t> class Reduction, class T, size_t Length>
inline constexpr bool turns_rows = InVectors<T> && Length > 1 && Length <= 64 && (requires {
                                       typename Reduction<T, 1>::joins_slowly;
                                   } || (Length > 8 && !takes_runs<Reduction<T, 1>, Length>));

// Reduces rows, one after the other in memory, as many at a time as a vector has lanes.
template <template <class, size_t> class Reduction, size_t Rows, size_t Length, class T,
          class Result>
CASTNET_ALWAYS_INLINE void reduce_turned_rows(T const* rows, Result* out) {
    constexpr size_t lanes = run_width<T>;
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

// The results, with extent 1 on the axes that are reduced.
template <template <class, size_t> class Reduction, size_t... Axes, class X>
CASTNET_ALWAYS_INLINE auto reduce_in_loops(X const& x, std::index_sequence<Axes...> axes) {
    using S = typename X::shape_type;
    using T = typename X::value_type;
    constexpr bool flat = X::is_flat;
    using every = std::make_index_sequence<folded<S, flat, Axes...>.rank>;
    using kept = decltype(folded_part<S, flat, false>(axes, every{}));
    using reduced = decltype(folded_part<S, flat, true>(axes, every{}));
    using both = decltype(folded_shape<S, flat>(axes, every{}));
    constexpr size_t last_axis = both::rank - 1, length = both::extent[last_axis];

    using result = typename Reduction<T, 1>::result;
    auto results =
        tensor<result,
               decltype(part_of<S, false>(axes, std::make_index_sequence<S::rank>{}))>::empty();
    result* out = results.data();
    constexpr bool along = folded<S, flat, Axes...>.reduced[last_axis];
    constexpr bool only_rows = sizeof...(Axes) == 1 && along;
    if constexpr (only_rows && !is_in_memory<X> && has_short_rows<S, T>) {
        reduce_short_rows<Reduction>(x, out);
    } else if constexpr (only_rows && flat && is_in_memory<X> && turns_rows<Reduction, T, length> &&
                         S::count / length >= run_width<T>) {
        reduce_turned_rows<Reduction, S::count / length, length>(x.data(), out);
    } else if constexpr (!along && flat && is_in_memory<X> && kept::count == length &&
                         turns_columns<Reduction, T, reduced::count, length>()) {
        reduce_turned_columns<Reduction, reduced::count, length>(x.data(), out);
    } else if constexpr (!along && flat && is_in_memory<X> &&
                         joins_rows<Reduction, T, reduced::count, length> && both::rank > 1 &&
                         both::extent[both::rank - 2] == reduced::count) {
        for (size_t i = 0; i != kept::count; i += length) {
            reduce_joined_rows<Reduction, reduced::count, length>(x.data() + i * reduced::count,
                                                                  out + i);
        }
    } else if constexpr (along && takes_runs<Reduction<T, 1>, length>) {
        for_each_row<kept>([&](auto... row) __attribute__((always_inline)) {
            Reduction<T, 1> total;
            size_t position = 0;
            for_each_row<reduced>([&](auto... at) __attribute__((always_inline)) {
                reduce_in_vectors<length, both>(total, x, position, (row + at)...);
                position += length;
            });
            *out++ = total.get(0, reduced::count);
        });
    } else if constexpr (along) {
        // short rows in few lanes, since joining them takes as long as the row
        constexpr size_t most = length < 256 ? 8 : std::max(size_t{8}, 128 / sizeof(T));
        constexpr size_t lanes = length <= 16 ? 1 : most;
        for_each_row<kept>([&](auto... row) __attribute__((always_inline)) {
            Reduction<T, lanes> total;
            size_t position = 0;
            for_each_row<reduced>([&](auto... at) __attribute__((always_inline)) {
                reduce_run<lanes, length, both>(total, x, position, (row + at)...);
                position += length;
            });
            join_lanes<lanes>(total);
            *out++ = total.get(0, reduced::count);
        });
    } else {
        // Neighbours on the last axis are reduced together, so that memory is read in order: as
        // many vectors as registers hold, of which the last ones have columns before them, too.
        constexpr size_t width = run_width<T>;
        constexpr bool in_vectors = takes_rows<Reduction, T> && length >= width;
        constexpr size_t lanes = in_vectors ? std::min(length, most_columns<T>) / width * width
                                            : std::min(length, size_t{256});
        constexpr size_t rest = length % lanes;
        constexpr size_t last_lanes = in_vectors ? (rest + width - 1) / width * width : rest;
        for_each_row<kept>([&](auto... row) __attribute__((always_inline)) {
            for (size_t begin = 0; begin + lanes <= length; begin += lanes) {
                reduce_columns<Reduction, lanes, both, reduced>(x, begin, out + begin, row...);
            }
            if constexpr (rest > 0) {
                constexpr size_t begin = length - last_lanes;
                reduce_columns<Reduction, last_lanes, both, reduced>(x, begin, out + begin, row...);
            }
            out += length;
        });
    }
    return results;
}

} // namespace castnet::detail
