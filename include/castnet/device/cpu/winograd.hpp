// Winograd transforms for tiles of 2x2 results, F(2x2, 3x3) and F(2x2, 2x2) (Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2015): for 3x3 taps 16 multiplications for each
// channel give 2x2 results, which otherwise take 36. Pixels and weights are transformed; then there
// is a matrix product for each of a tile's 16 places; and its results are transformed back. Pieces
// of two taps do without the third point, and have the same places otherwise (winograd_tiling.hpp).
//
// Of a dilated window, pixels a dilation apart make images of their own, and so do their results.
//
// The factors are 0, 1, -1, 1/2 and 2, so hardly any precision is lost. Where products multiply
// pairs of bfloat16, these are rounded after the transforms, which leaves results with up to 1.7
// times the error of direct products of rounded numbers.
#pragma once

#include <castnet/cpu/tile.hpp>
#include <castnet/cpu/transpose.hpp>
#include <castnet/device/cpu/winograd_row.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
vec<T> load(T const* from) {
    return *reinterpret_cast<vec<T> const*>(from);
}
template <class T>
void store(vec<T> x, T* to) {
    *reinterpret_cast<vec<T>*>(to) = x;
}

// Channels or filters up to the end of their last vector. What is loaded there beyond them takes no
// part in any result.
template <class T>
constexpr std::ptrdiff_t whole_vectors(std::ptrdiff_t count) {
    return (count + simd<T>::width - 1) / simd<T>::width * simd<T>::width;
}
// Where a vector of results lies: the last one ends with them, so it may repeat some.
template <class T>
constexpr std::ptrdiff_t within(std::ptrdiff_t count, std::ptrdiff_t first) {
    return std::min(first, count - simd<T>::width);
}

// Where a piece's vectors go or come from, for each place in a tile.
using place_offsets = std::ptrdiff_t[winograd_places];

// Rows of an image, steps apart, and their pixels; zeros outside.
template <int Rows, class T>
struct image_rows {
    T const* row[size_t(Rows)];
    std::ptrdiff_t inside[size_t(Rows)]; // all bits, or none
    T const* zeros;
    std::ptrdiff_t channels;
    int width;

    image_rows(T const* image, int height, int all, std::ptrdiff_t in_pixel, int y, int step,
               T const* outside)
        : zeros(outside), channels(in_pixel), width(all) {
        for (int i = 0; i < Rows; ++i, y += step) {
            bool const is_inside = y >= 0 && y < height;
            row[i] = is_inside ? image + std::ptrdiff_t{y} * width * channels : zeros;
            inside[i] = is_inside ? -1 : 0;
        }
    }
    // Those of a tile under a piece, and those of its results.
    static image_rows under(tiling const& t, tap_piece const& piece, T const* x,
                            tile_place const& at, T const* zeros) {
        return {x + at.image * t.image_count(),
                t.down.in,
                t.across.in,
                t.channels,
                t.down.pixel_of(at.y, piece),
                t.down.stride * t.down.dilation,
                zeros};
    }
    static image_rows results(tiling const& t, T const* y, tile_place const& at, T const* zeros) {
        return {y + at.image * t.result_count(),
                t.down.out,
                t.across.out,
                t.filters,
                at.y,
                t.down.dilation,
                zeros};
    }

    // The pixels in a column.
    [[gnu::always_inline]] void find(int x, T const* (&to)[size_t(Rows)]) const {
        bool const is_inside = x >= 0 && x < width;
        std::ptrdiff_t const here = x * channels;
        CASTNET_UNROLL
        for (int i = 0; i < Rows; ++i) {
            to[i] = is_inside ? row[i] + (here & inside[i]) : zeros;
        }
    }
};

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

// A transform of pixels: the columns first, then the rows of these.
template <int Down, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
transform_column(T const* const (&pixel)[size_t(Down + 1)], std::ptrdiff_t channel,
                 vec<T> (&to)[4]) {
    vec<T> column[size_t(Down + 1)];
    CASTNET_UNROLL
    for (int i = 0; i <= Down; ++i) {
        column[i] = load(pixel[i] + channel);
    }
    winograd_row<Down, T>::image(column, to);
}
template <int Down, int Across, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
transform_rows(vec<T> const (&turned)[size_t(Across + 1)][4], vec<T> (&to)[4][4]) {
    CASTNET_UNROLL
    for (int i = 0; i < 4; ++i) {
        if (Down == 3 || i != 2) {
            vec<T> row[size_t(Across + 1)];
            CASTNET_UNROLL
            for (int j = 0; j <= Across; ++j) {
                row[j] = turned[j][i];
            }
            winograd_row<Across, T>::image(row, to[i]);
        }
    }
}

// The pixels of a run of tiles under a piece, transformed: for each place in a tile a vector of
// channels, those of the next tiles follow it, and the next channels lie `next_vector` further on.
// Neighbouring channels make a pair. The columns that two tiles share are transformed once.
template <int Down, int Across, class F>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_image(tiling const& t, tap_piece const& down, tap_piece const& across,
                sum_type<F> const* x, tile_run const& run, sum_type<F> const* zeros, F* to,
                place_offsets const& offset, std::ptrdiff_t next_vector) {
    using T = sum_type<F>;
    constexpr int numbers = numbers_in<F>, shared = Across - 1;
    auto const rows = image_rows<Down + 1, T>::under(t, down, x, run.first, zeros);
    int const first = t.across.pixel_of(run.first.x, across),
              step = t.across.stride * t.across.dilation;
    auto const column = [&](int at, std::ptrdiff_t channel, vec<T>(&turned)[4])
                            __attribute__((always_inline)) {
                                T const* pixel[size_t(Down + 1)];
                                rows.find(at, pixel);
                                transform_column<Down, T>(pixel, channel, turned);
                            };
    for (std::ptrdiff_t c = 0; c < t.channels; c += numbers * simd<T>::width, to += next_vector) {
        vec<T> turned[size_t(numbers)][size_t(Across + 1)][4];
        CASTNET_UNROLL
        for (int k = 0; k < numbers; ++k) {
            CASTNET_UNROLL
            for (int j = 0; j < shared; ++j) {
                column(first + j * step, c + k * simd<T>::width, turned[k][j]);
            }
        }
        int next = first + shared * step;
        F* here = to;
        for (std::ptrdiff_t i = run.tiles; i > 0; --i, next += 2 * step, here += simd<F>::width) {
            vec<T> transformed[size_t(numbers)][4][4];
            CASTNET_UNROLL
            for (int k = 0; k < numbers; ++k) {
                CASTNET_UNROLL
                for (int j = 0; j < 2; ++j) {
                    column(next + j * step, c + k * simd<T>::width, turned[k][shared + j]);
                }
                transform_rows<Down, Across, T>(turned[k], transformed[k]);
                CASTNET_UNROLL
                for (int j = 0; j < shared; ++j) {
                    CASTNET_UNROLL
                    for (int p = 0; p < 4; ++p) {
                        turned[k][j][p] = turned[k][j + 2][p];
                    }
                }
            }
            store_places<pairing::neighbours, Down, Across, F>(transformed, here, offset);
        }
    }
}
// The same for two tiles whose pixels make pairs.
template <int Down, int Across, class F>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_image(tiling const& t, tap_piece const& down, tap_piece const& across,
                sum_type<F> const* x, tile_pair const& pair, sum_type<F> const* zeros, F* to,
                place_offsets const& offset, std::ptrdiff_t next_vector) {
    using T = sum_type<F>;
    T const* pixel[2][size_t(Across + 1)][size_t(Down + 1)];
    for (int n = 0; n < 2; ++n) {
        auto const rows = image_rows<Down + 1, T>::under(t, down, x, pair.place[n], zeros);
        for (int j = 0; j <= Across; ++j) {
            rows.find(t.across.pixel_of(pair.place[n].x, across) +
                          j * t.across.stride * t.across.dilation,
                      pixel[n][j]);
        }
    }
    for (std::ptrdiff_t c = 0; c < t.channels; c += simd<T>::width, to += next_vector) {
        vec<T> transformed[2][4][4];
        CASTNET_UNROLL
        for (int n = 0; n < 2; ++n) {
            vec<T> turned[size_t(Across + 1)][4];
            CASTNET_UNROLL
            for (int j = 0; j <= Across; ++j) {
                transform_column<Down, T>(pixel[n][j], c, turned[j]);
            }
            transform_rows<Down, Across, T>(turned, transformed[n]);
        }
        store_places<pairing::rows, Down, Across, F>(transformed, to, offset);
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
                        store(result, to + i * second_row + j * second_column + k);
                    }
                }
            }
        }
    }
}

// The gradients of 2x2 results as weights over the pixels of their tile: a vector of filters.
template <class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
transform_gradient(T const* const (&pixel)[2][2], std::ptrdiff_t k, vec<T> (&to)[4][4]) {
    vec<T> turned[2][4];
    CASTNET_UNROLL
    for (int j = 0; j < 2; ++j) {
        winograd_gradient<T>(load(pixel[j][0] + k), load(pixel[j][1] + k), turned[j]);
    }
    CASTNET_UNROLL
    for (int i = 0; i < 4; ++i) {
        winograd_gradient<T>(turned[0][i], turned[1][i], to[i]);
    }
}
// Those of a run of tiles, or of two tiles that make pairs. The filters come in panels of a
// product's columns, `next_panel` apart.
template <int Down, int Across, class F, class Tiles>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_gradients(tiling const& t, sum_type<F> const* dy, Tiles const& tiles,
                    sum_type<F> const* zeros, F* to, place_offsets const& offset,
                    std::ptrdiff_t next_panel) {
    using T = sum_type<F>;
    using rows = image_rows<2, T>;
    constexpr int numbers = numbers_in<F>;
    T const* pixel[size_t(numbers)][2][2];
    auto const find = [&](rows const& at, int x, T const*(&to_pixel)[2][2]) {
        at.find(x, to_pixel[0]);
        at.find(x + t.across.dilation, to_pixel[1]);
    };
    auto const transform = [&](F* out) __attribute__((always_inline)) {
        for (std::ptrdiff_t k = 0; k < t.filters; k += simd<T>::width) {
            vec<T> transformed[size_t(numbers)][4][4];
            CASTNET_UNROLL
            for (int n = 0; n < numbers; ++n) {
                transform_gradient<T>(pixel[n], k, transformed[n]);
            }
            store_places<pairing::rows, Down, Across, F>(
                transformed, out + k / tile_columns<F> * next_panel + k % tile_columns<F>, offset);
        }
    };
    if constexpr (numbers == 1) {
        auto const at = rows::results(t, dy, tiles.first, zeros);
        for (std::ptrdiff_t i = 0; i < tiles.tiles; ++i, to += tile_columns<F>) {
            find(at, tiles[i].x, pixel[0]);
            transform(to);
        }
    } else {
        for (int n = 0; n < numbers; ++n) {
            find(rows::results(t, dy, tiles.place[n], zeros), tiles.place[n].x, pixel[n]);
        }
        transform(to);
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

// The sums of products of a channel for some filters, transformed back to gradients of the weights
// under a piece.
template <int Down, int Across, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_weight_gradient(T const* from, place_offsets const& offset, T* to,
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
            store(across[j], to + i * next_row + j * next_column);
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
