// Products of equidistant rows with few columns or little depth: pixels of an image with few
// channels, samples before a layer of few units. There the row pointers of general tiles (tile.hpp)
// would cost as much as the arithmetic.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/tile.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace castnet::cpu::inline CASTNET_TARGET {

// Rows of a run that are computed at once (twice as many if their vectors are few), and their most
// vectors. With many registers also one row more, where fewer are repeated then.
inline constexpr int run_rows = vector_registers >= 32 ? 7 : 3, run_vectors = 2;
constexpr bool takes_one_row_more(std::ptrdiff_t length) {
    constexpr std::ptrdiff_t less = run_rows, more = run_rows + 1;
    return length >= more && (length + more - 1) / more * more <= (length + less - 1) / less * less;
}

// Columns up to which runs are faster than tiles with pointers to rows, which fill more vectors.
template <class T>
inline constexpr std::ptrdiff_t run_filters = std::ptrdiff_t{3} * simd<T>::width;

// Rows of A: outer * inner runs of `length` rows that begin `step` apart.
struct runs {
    std::ptrdiff_t outer, outer_step;
    std::ptrdiff_t inner, inner_step;
    std::ptrdiff_t length, step; // at least run_rows
};

// Calls f(first column, columns, vectors), the last one a constant, for pieces of at most `Most`
// vectors; a piece that ends within a vector comes first.
template <int Most, class T, class F>
void for_each_column_piece(std::ptrdiff_t columns, F const& f) {
    constexpr std::ptrdiff_t width = simd<T>::width, most = Most * width;
    for (std::ptrdiff_t first = (columns - 1) / most * most; first >= 0; first -= most) {
        int const here = static_cast<int>(std::min(most, columns - first));
        if (here > width) {
            f(first, here, std::integral_constant<int, Most>{});
        } else {
            f(first, here, std::integral_constant<int, 1>{});
        }
    }
}

// Operands shared by the tiles of some columns.
template <class F>
struct run_columns {
    tile_depth<F> depth;
    tile_end<sum_type<F>> end;
    std::ptrdiff_t row; // from row to row of C
    std::size_t bytes;  // of one row's columns
};

// The product of `Rows` rows that begin step[1] apart; step[i] is i times that. Vectors are stored
// whole, beyond the columns as well, while they end within the run: `beyond` elements of its
// results follow the last vector, or fewer than none.
template <int Rows, int Vectors, class F>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
run_tile(F const* x, std::ptrdiff_t const (&step)[5], run_columns<F> const& c, sum_type<F>* to,
         std::ptrdiff_t beyond) {
    using T = sum_type<F>;
    tile_depth<F> const& d = c.depth;
    std::ptrdiff_t const next = c.row;
    constexpr int width = simd<F>::width;
    vec<T> sum[size_t(Rows)][size_t(Vectors)] = {};
    F const* b = d.b;
    std::ptrdiff_t const b_stride = d.b_stride;
    std::ptrdiff_t const* const last = d.offset + d.steps;
    for (std::ptrdiff_t const* k = d.offset; k != last; ++k, b += b_stride) {
        F const* a = x + *k;
        vec<F> right[size_t(Vectors)];
        CASTNET_UNROLL
        for (int j = 0; j < Vectors; ++j) {
            right[j] = *reinterpret_cast<vec<F> const*>(b + j * width);
        }
        CASTNET_UNROLL
        for (int i = 0; i < Rows; ++i) {
            auto const left = broadcast(a[step[i % 4]]);
            CASTNET_UNROLL
            for (int j = 0; j < Vectors; ++j) {
                sum[i][j] = plus_product<Rows, Vectors, F>(sum[i][j], left, right[j]);
            }
            if (i % 4 == 3) {
                a += step[4];
            }
        }
    }
    finish_sums<Rows, Vectors, T>(sum, c.end, 0);
    if (beyond >= 0) {
        CASTNET_UNROLL
        for (int i = 0; i < Rows; ++i) {
            CASTNET_UNROLL
            for (int j = 0; j < Vectors; ++j) {
                *reinterpret_cast<vec<T>*>(to + i * next + j * width) = sum[i][j];
            }
        }
        return;
    }
    T part[size_t(Rows)][size_t(Vectors * width)];
    CASTNET_UNROLL
    for (int i = 0; i < Rows; ++i) {
        CASTNET_UNROLL
        for (int j = 0; j < Vectors; ++j) {
            *reinterpret_cast<vec<T>*>(part[i] + j * width) = sum[i][j];
        }
    }
    for (int i = 0; i < Rows; ++i) {
        bool const whole = beyond + (Rows - 1 - i) * next >= 0;
        std::memcpy(to + i * next, part[i], whole ? sizeof part[i] : c.bytes);
    }
}

// The columns of the product from `first` on, `Rows` rows at once.
template <int Rows, int Vectors, class F>
CASTNET_WIDE_VECTORS void multiply_runs(F const* a, runs const& r, run_columns<F> const& c,
                                        std::ptrdiff_t first, sum_type<F>* to) {
    std::ptrdiff_t step[5] = {};
    for (int i = 1; i < 5; ++i) {
        step[i] = i * r.step;
        CASTNET_OPAQUE(step[i]); // otherwise each is computed from the previous one
    }
    std::ptrdiff_t const length = r.length, all = c.row;
    for (std::ptrdiff_t outer = 0; outer < r.outer; ++outer) {
        for (std::ptrdiff_t inner = 0; inner < r.inner; ++inner, to += length * all) {
            F const* const from = a + outer * r.outer_step + inner * r.inner_step;
            std::ptrdiff_t row = 0;
            auto const tile =
                [&]<int Here>(std::integral_constant<int, Here>) __attribute__((always_inline)) {
                    // Elements written beyond the columns are computed later: rows
                    // of the run, columns to the left.
                    std::ptrdiff_t const beyond =
                        (length - row - Here + 1) * all - first - Vectors * simd<F>::width;
                    run_tile<Here, Vectors>(from + row * step[1], step, c, to + row * all + first,
                                            beyond);
                };
            if constexpr (Vectors * run_rows < 10) { // too few sums to hide latency
                constexpr std::integral_constant<int, 2 * Rows> two;
                for (; row + two <= length; row += two) {
                    tile(two);
                }
            }
            constexpr std::integral_constant<int, Rows> one;
            for (; row < length; row += one) {
                row = std::min(row, length - one); // the last tile repeats some rows
                tile(one);
            }
        }
    }
}

// Some columns of the product, from `first` on; C's rows have `all` columns and are contiguous.
template <int Vectors, class F>
void multiply_runs(F const* a, runs const& r, tile_depth<F> const& d,
                   tile_end<sum_type<F>> const& end, std::ptrdiff_t all, std::ptrdiff_t first,
                   int columns, sum_type<F>* to) {
    run_columns<F> const c{{d.steps, d.offset, d.b + first, d.b_stride},
                           end.from(first),
                           all,
                           static_cast<std::size_t>(columns) * sizeof(sum_type<F>)};
    if constexpr (vector_registers >= 32) {
        if (takes_one_row_more(r.length)) {
            multiply_runs<run_rows + 1, Vectors>(a, r, c, first, to);
            return;
        }
    }
    multiply_runs<run_rows, Vectors>(a, r, c, first, to);
}

// C = A * B with the epilogue `end`.
template <class F>
void multiply_runs(F const* a, runs const& r, tile_depth<F> const& d,
                   tile_end<sum_type<F>> const& end, std::ptrdiff_t columns, sum_type<F>* c) {
    for_each_column_piece<run_vectors, F>(
        columns,
        [&]<int Vectors>(std::ptrdiff_t first, int here, std::integral_constant<int, Vectors>) {
            multiply_runs<Vectors>(a, r, d, end, columns, first, here, c);
        });
}

} // namespace castnet::cpu::inline CASTNET_TARGET
