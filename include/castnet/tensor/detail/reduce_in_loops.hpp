// Reductions of expressions on the host: in vectors along the last axis, in lanes across it.
#pragma once

#include <castnet/tensor/detail/reduce_narrow.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <algorithm>
#include <type_traits>

namespace castnet::detail {

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

// The same in vectors (takes_runs); numbers that have to be computed are computed a block at a
// time.
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

template <template <class, size_t> class Reduction, size_t... Axes, class X>
CASTNET_ALWAYS_INLINE auto reduce_in_loops(X const& x, std::index_sequence<Axes...> axes);

// Whether rows of cheap elements are so short that compilers reduce several at once.
template <class X>
inline constexpr bool has_shortest_rows =
    cost_of<X> == element_cost::low && X::shape_type::extent[X::shape_type::rank - 1] <= 8;

// Reduces such rows, each in registers.
template <template <class, size_t> class Reduction, class X, class Result>
CASTNET_ALWAYS_INLINE void reduce_shortest_rows(X const& x, Result* out) {
    using T = typename X::value_type;
    using S = typename X::shape_type;
    constexpr size_t width = S::extent[S::rank - 1], rows = S::extent[S::rank - 2];
    for_each_row<decltype(without_last(S{}))>([&](auto... at) __attribute__((always_inline)) {
        CASTNET_IVDEP
        for (size_t i = 0; i < rows; ++i) {
            T row[width];
            for_few<width>([&](size_t k) __attribute__((always_inline)) {
                row[k] = static_cast<T>(x.element(at..., i, k));
            });
            Reduction<T, 1> total;
            if constexpr (takes_runs<Reduction<T, 1>, width>) {
                total.template take_run<width>(
                    [&](auto, size_t begin) __attribute__((always_inline)) { return row + begin; },
                    0);
            } else if constexpr (takes_four<Reduction<T, 1>, T> && width == 4) {
                T const* const four[4] = {row, row + 1, row + 2, row + 3};
                total.take_four(four);
            } else {
                for_few<width>([&](size_t k) __attribute__((always_inline)) {
                    total.template take<1>(row + k, k);
                });
            }
            out[i] = total.get(0, width);
        }
        out += rows;
    });
}

// Reduces rows that are shorter than a vector and have to be computed: tile by tile.
template <template <class, size_t> class Reduction, class X, class Result>
CASTNET_ALWAYS_INLINE void reduce_short_rows(X const& x, Result* out) {
    using T = typename X::value_type;
    using S = typename X::shape_type;
    constexpr size_t width = S::extent[S::rank - 1];
    for_each_tile_of_rows<S>(x, [&](auto const& tile, auto...) {
        using shape_type = typename std::remove_cvref_t<decltype(tile)>::shape_type;
        using matrix = shape<shape_type::count / width, width>;
        alignas(64) T rows[shape_type::count];
        write(tensor_view<T, shape_type>{rows}, tile);
        auto const results = reduce_in_loops<Reduction>(tensor_view<T const, matrix>{rows},
                                                        std::index_sequence<1>{});
        out = std::copy_n(results.data(), results.size(), out);
    });
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
    if constexpr (only_rows && !is_in_memory<X> && has_short_rows<S, T> && has_shortest_rows<X>) {
        reduce_shortest_rows<Reduction>(x, out);
    } else if constexpr (only_rows && !is_in_memory<X> && has_short_rows<S, T>) {
        reduce_short_rows<Reduction>(x, out);
    } else if constexpr (only_rows && flat && is_in_memory<X> && turns_rows<Reduction, T, length> &&
                         S::count / length >= run_width<T>) {
        reduce_turned_rows<Reduction, S::count / length, length>(x.data(), out);
    } else if constexpr (!along && flat && is_in_memory<X> && kept::count == length &&
                         turns_columns<Reduction, T, reduced::count, length>()) {
        reduce_turned_columns<Reduction, reduced::count, length>(x.data(), out);
    } else if constexpr (!along && flat && is_in_memory<X> &&
                         joins_rows<Reduction, T, reduced::count, length> && both::rank > 1 &&
                         both::extent[last_axis > 0 ? last_axis - 1 : 0] == reduced::count) {
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
        constexpr size_t lanes =
            in_vectors ? std::min(length, most_columns<Reduction<T, 1>, T>) / width * width
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
