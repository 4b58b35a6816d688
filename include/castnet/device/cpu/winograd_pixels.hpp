// Winograd transforms of pixels and of results' gradients (winograd.hpp), for runs of tiles that
// are next to each other: they share rows and columns of pixels.
#pragma once

#include <castnet/device/cpu/winograd.hpp>

#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

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

} // namespace castnet::cpu::inline CASTNET_TARGET
