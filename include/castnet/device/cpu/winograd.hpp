// Winograd transforms for tiles of 2x2 results, F(2x2, 3x3) and F(2x2, 2x2) (Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2015): for 3x3 taps 16 multiplications for each
// channel give 2x2 results, which otherwise take 36. Pixels (winograd_pixels.hpp) and weights are
// transformed; then there is a matrix product for each of a tile's 16 places; and its results are
// transformed back. Pieces of two taps do without the third point, and have the same places
// otherwise (winograd_tiling.hpp).
//
// Of a dilated window, pixels a dilation apart make images of their own, and so do their results.
//
// The factors are 0, 1, -1, 1/2 and 2, so hardly any precision is lost. Where products multiply
// pairs of bfloat16, these are rounded after the transforms, which leaves results with up to 1.7
// times the error of direct products of rounded numbers.
#pragma once

#include <castnet/cpu/tile.hpp>
#include <castnet/device/cpu/tuning.hpp>
#include <castnet/device/cpu/winograd_row.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
vec<T> load(T const* from) {
    return *reinterpret_cast<vec<T> const*>(from);
}
template <class T>
void store(vec<T> x, T* to) {
    *reinterpret_cast<vec<T>*>(to) = x;
}
// Its first elements, where a vector has more of them than there are.
template <class T>
[[gnu::always_inline]] inline void store(vec<T> x, T* to, std::ptrdiff_t count) {
    if (count >= simd<T>::width) {
        store(x, to);
    } else {
        std::memcpy(to, &x, static_cast<std::size_t>(count) * sizeof(T));
    }
}

// Channels or filters up to the end of their last vector. What is loaded there beyond them takes no
// part in any result.
template <class T>
constexpr std::ptrdiff_t whole_vectors(std::ptrdiff_t count) {
    return (count + simd<T>::width - 1) / simd<T>::width * simd<T>::width;
}
// Where a vector of results lies: the last one of several ends with them, so it may repeat some.
template <class T>
constexpr std::ptrdiff_t within(std::ptrdiff_t count, std::ptrdiff_t first) {
    return std::max(std::min(first, count - simd<T>::width), std::ptrdiff_t{0});
}

// Where a piece's vectors go or come from, for each place in a tile.
using place_offsets = std::ptrdiff_t[winograd_places];

// A vector of factors for each place in a tile, made of transformed numbers.
template <pairing P, int Down, int Across, class F>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
store_places(vec<sum_type<F>> const (&x)[size_t(numbers_in<F>)][4][4], F* to,
             place_offsets const& offset) {
    CASTNET_UNROLL
    for (int i = 0; i < winograd_places; ++i) {
        if (has_place<Down, Across>(i)) {
            vec<sum_type<F>> numbers[size_t(numbers_in<F>)];
            CASTNET_UNROLL
            for (int k = 0; k < numbers_in<F>; ++k) {
                numbers[k] = x[k][i / 4][i % 4];
            }
            *reinterpret_cast<vec<F>*>(to + offset[i]) = factors_of<P, F>(numbers);
        }
    }
}

// The products of a run of tiles, transformed back to 2x2 results each; those outside the image are
// dropped. The most taps of a piece say which places there are.
template <int Down, int Across, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_result(tiling const& t, T const* from, std::ptrdiff_t next_place, tile_end<T> const& end,
                 tile_run const& run, T* y) {
    std::ptrdiff_t const filters = t.filters, in_tile = whole_vectors<T>(filters);
    std::ptrdiff_t const second_row =
        std::ptrdiff_t{t.down.dilation} * t.down.result_step * t.across.out * filters;
    std::ptrdiff_t const second_column =
        std::ptrdiff_t{t.across.dilation} * t.across.result_step * filters;
    bool const has_second_row = t.down.has_second(run.first.y);
    T* to = y + run.first.image * t.result_count() +
            (std::ptrdiff_t{t.down.place_in_memory(run.first.y)} * t.across.out +
             t.across.place_in_memory(run.first.x)) *
                filters;
    for (std::ptrdiff_t n = 0; n < run.tiles; ++n, from += in_tile, to += 2 * second_column) {
        bool const has_second_column = t.across.has_second(run[n].x);
        for (std::ptrdiff_t first = 0; first < filters; first += simd<T>::width) {
            std::ptrdiff_t const k = within<T>(filters, first);
            vec<T> turned[4][2];
            CASTNET_UNROLL
            for (int j = 0; j < 4; ++j) {
                if (Across == 3 || j != 2) {
                    vec<T> column[4];
                    CASTNET_UNROLL
                    for (int i = 0; i < 4; ++i) {
                        if (Down == 3 || i != 2) {
                            column[i] = load(from + (i * winograd_points + j) * next_place + k);
                        }
                    }
                    winograd_row<Down, T>::result(column, turned[j]);
                }
            }
            vec<T> const bias = end.bias ? load(end.bias + k) : vec<T>{};
            CASTNET_UNROLL
            for (int i = 0; i < 2; ++i) {
                vec<T> row[4], across[2];
                CASTNET_UNROLL
                for (int j = 0; j < 4; ++j) {
                    if (Across == 3 || j != 2) {
                        row[j] = turned[j][i];
                    }
                }
                winograd_row<Across, T>::result(row, across);
                CASTNET_UNROLL
                for (int j = 0; j < 2; ++j) {
                    vec<T> result = across[j] + bias;
                    if (end.rectifies) {
                        result = rectified<T>(result, end.most);
                    }
                    if ((i == 0 || has_second_row) && (j == 0 || has_second_column)) {
                        store<T>(result, to + i * second_row + j * second_column + k, filters);
                    }
                }
            }
        }
    }
}

// The weights of a channel under a piece for some filters, `next_row` and `next_column` apart;
// transformed. Those `next_number` further on are the second ones of pairs.
template <pairing P, int Down, int Across, class F>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_weight(sum_type<F> const* from, std::ptrdiff_t next_number, std::ptrdiff_t next_row,
                 std::ptrdiff_t next_column, F* to, place_offsets const& offset) {
    using T = sum_type<F>;
    vec<T> numbers[size_t(numbers_in<F>)][4][4];
    CASTNET_UNROLL
    for (int n = 0; n < numbers_in<F>; ++n, from += next_number) {
        vec<T> turned[size_t(Across)][4];
        CASTNET_UNROLL
        for (int j = 0; j < Across; ++j) {
            vec<T> column[size_t(Down)];
            CASTNET_UNROLL
            for (int i = 0; i < Down; ++i) {
                column[i] = load(from + i * next_row + j * next_column);
            }
            winograd_row<Down, T>::weight(column, turned[j]);
        }
        CASTNET_UNROLL
        for (int i = 0; i < 4; ++i) {
            if (Down == 3 || i != 2) {
                vec<T> row[size_t(Across)];
                CASTNET_UNROLL
                for (int j = 0; j < Across; ++j) {
                    row[j] = turned[j][i];
                }
                winograd_row<Across, T>::weight(row, numbers[n][i]);
            }
        }
    }
    store_places<P, Down, Across, F>(numbers, to, offset);
}

// The sums of products of a channel for some of so many filters, transformed back to gradients of
// the weights under a piece.
template <int Down, int Across, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_weight_gradient(T const* from, place_offsets const& offset, std::ptrdiff_t filters, T* to,
                          std::ptrdiff_t next_row, std::ptrdiff_t next_column) {
    vec<T> turned[4][size_t(Down)];
    CASTNET_UNROLL
    for (int j = 0; j < 4; ++j) {
        if (Across == 3 || j != 2) {
            vec<T> column[4];
            CASTNET_UNROLL
            for (int i = 0; i < 4; ++i) {
                if (Down == 3 || i != 2) {
                    column[i] = load(from + offset[i * winograd_points + j]);
                }
            }
            winograd_row<Down, T>::weight_gradient(column, turned[j]);
        }
    }
    CASTNET_UNROLL
    for (int i = 0; i < Down; ++i) {
        vec<T> row[4], across[size_t(Across)];
        CASTNET_UNROLL
        for (int j = 0; j < 4; ++j) {
            if (Across == 3 || j != 2) {
                row[j] = turned[j][i];
            }
        }
        winograd_row<Across, T>::weight_gradient(row, across);
        CASTNET_UNROLL
        for (int j = 0; j < Across; ++j) {
            store<T>(across[j], to + i * next_row + j * next_column, filters);
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
