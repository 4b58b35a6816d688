// Winograd transforms for 3x3 convolutions with stride 1, F(2x2, 3x3) (Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks", 2015): 16 multiplications for each channel give
// 2x2 results, which otherwise take 36. Tiles of 4x4 pixels and the weights are transformed; then
// there is a matrix product for each of a tile's 16 elements; and its results are transformed back.
//
// Of a dilated window, pixels a dilation apart make images of their own, and so do their results.
//
// The factors are 0, 1, -1 and 1/2, so hardly any precision is lost. Where products multiply pairs
// of bfloat16, these are rounded after the transforms, which leaves results with up to 1.7 times
// the error of direct products of rounded numbers.
#pragma once

#include <castnet/cpu/tile.hpp>
#include <castnet/cpu/transpose.hpp>
#include <castnet/device/cpu/sliding.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

inline constexpr int winograd_places = 16; // in a tile

// Geometry of the tiles: an image, and the results of a 3x3 window over it, of which a tile has
// 2x2, a dilation apart. So there are as many tiles as the dilation in each two dilations of rows
// and of columns.
struct tiling {
    int height, width, channels; // of the image
    int out_height, out_width, filters;
    int pad_top, pad_left, dilation;

    constexpr int down() const { return tiles_along(out_height); }
    constexpr int across() const { return tiles_along(out_width); }
    constexpr std::ptrdiff_t tiles() const { return std::ptrdiff_t{down()} * across(); }
    // The first result of a tile, along one axis.
    constexpr int first_result(int tile) const { return tile / dilation * dilation + tile; }
    constexpr std::ptrdiff_t image_count() const {
        return std::ptrdiff_t{height} * width * channels;
    }
    constexpr std::ptrdiff_t result_count() const {
        return std::ptrdiff_t{out_height} * out_width * filters;
    }

private:
    constexpr int tiles_along(int results) const {
        return results / (2 * dilation) * dilation + std::min(results % (2 * dilation), dilation);
    }
};

constexpr tiling forward_tiling(window const& w) {
    return {w.height,  w.width,   w.channels, w.out_height, w.out_width,
            w.filters, w.pad_top, w.pad_left, w.dilation};
}
// The gradient by the image is a convolution of the result's gradient.
constexpr tiling data_tiling(window const& w) {
    int const reach = 2 * w.dilation;
    return {w.out_height, w.out_width,       w.filters,          w.height,  w.width,
            w.channels,   reach - w.pad_top, reach - w.pad_left, w.dilation};
}

// Whether the multiplications saved are worth the transforms, whose cost is per channel and per
// filter.
template <class F>
constexpr bool uses_winograd(window const& w, tiling const& t) {
    constexpr int width = simd<F>::width * numbers_in<F>;
    return w.kernel_h == 3 && w.kernel_w == 3 && w.stride_h == 1 && w.stride_w == 1 &&
           w.groups == 1 && w.channels % width == 0 && w.filters % width == 0 &&
           w.channels >= winograd_channels && w.filters >= winograd_channels &&
           w.pad_top <= 2 * w.dilation && w.pad_left <= 2 * w.dilation &&
           winograd_places * t.tiles() * 4 <= 27 * std::ptrdiff_t{w.out_height} * w.out_width;
}

// Position of a tile: that of its first result.
struct tile_place {
    std::ptrdiff_t image;
    int y, x;
};
// That of a tile, image after image.
constexpr tile_place place_of(tiling const& t, std::ptrdiff_t tile) {
    std::ptrdiff_t const in_image = tile % t.tiles();
    return {tile / t.tiles(), t.first_result(static_cast<int>(in_image / t.across())),
            t.first_result(static_cast<int>(in_image % t.across()))};
}
// A tile of which all pixels lie outside the image.
inline constexpr tile_place no_tile{0, -(1 << 30), 0};

template <class T>
vec<T> load(T const* from) {
    return *reinterpret_cast<vec<T> const*>(from);
}
template <class T>
void store(vec<T> x, T* to) {
    *reinterpret_cast<vec<T>*>(to) = x;
}

// Transforms of one row or column of a tile.
template <class T>
struct winograd_rows {
    using v = vec<T>;
    static void image(v const& a, v const& b, v const& c, v const& d, v (&to)[4]) {
        to[0] = a - c;
        to[1] = b + c;
        to[2] = c - b;
        to[3] = b - d;
    }
    static void weight(v const& a, v const& b, v const& c, v (&to)[4]) {
        v const ends = (a + c) * T(0.5), middle = b * T(0.5);
        to[0] = a;
        to[1] = ends + middle;
        to[2] = ends - middle;
        to[3] = c;
    }
    static void result(v const& a, v const& b, v const& c, v const& d, v (&to)[2]) {
        to[0] = a + b + c;
        to[1] = b - c - d;
    }
    // of the gradient by the weights: a result's gradient is a weight there, and 3x3 the result
    static void gradient(v const& a, v const& b, v (&to)[4]) {
        to[0] = a;
        to[1] = (a + b) * T(0.5);
        to[2] = (a - b) * T(0.5);
        to[3] = b;
    }
    static void weight_gradient(v const& a, v const& b, v const& c, v const& d, v (&to)[3]) {
        to[0] = a + b + c;
        to[1] = b - c;
        to[2] = b + c - d;
    }
};

// The pixels of an image that a tile reads, rows x columns from (y, x) on, `step` apart; `zeros`
// outside.
template <size_t Rows, size_t Columns, class T>
void find_pixels(T const* image, int height, int width, std::ptrdiff_t channels, int first_y,
                 int first_x, int step, T const* zeros, T const* (&to)[Rows][Columns]) {
    for (int i = 0; i < int(Rows); ++i) {
        for (int j = 0; j < int(Columns); ++j) {
            int const y = first_y + i * step, x = first_x + j * step;
            bool const inside = y >= 0 && y < height && x >= 0 && x < width;
            to[i][j] = inside ? image + (std::ptrdiff_t{y} * width + x) * channels : zeros;
        }
    }
}

// A vector of factors for each place in a tile, `next_place` apart, made of transformed numbers.
template <pairing P, class F>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
store_places(vec<sum_type<F>> const (&x)[size_t(numbers_in<F>)][4][4], F* to,
             std::ptrdiff_t next_place) {
    CASTNET_UNROLL
    for (int i = 0; i < winograd_places; ++i) {
        vec<sum_type<F>> numbers[size_t(numbers_in<F>)];
        CASTNET_UNROLL
        for (int k = 0; k < numbers_in<F>; ++k) {
            numbers[k] = x[k][i / 4][i % 4];
        }
        *reinterpret_cast<vec<F>*>(to + i * next_place) = factors_of<P, F>(numbers);
    }
}

// The pixels of a tile.
template <class T>
struct tile_pixels {
    T const* at[4][4];

    tile_pixels(tiling const& t, T const* x, tile_place const& place, T const* zeros) {
        find_pixels(x + place.image * t.image_count(), t.height, t.width, t.channels,
                    place.y - t.pad_top, place.x - t.pad_left, t.dilation, zeros, at);
    }

    // A vector of channels, transformed.
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS void transform(std::ptrdiff_t c,
                                                               vec<T> (&to)[4][4]) const {
        using rows = winograd_rows<T>;
        vec<T> down[4][4]; // by column
        CASTNET_UNROLL
        for (int j = 0; j < 4; ++j) {
            rows::image(load(at[0][j] + c), load(at[1][j] + c), load(at[2][j] + c),
                        load(at[3][j] + c), down[j]);
        }
        CASTNET_UNROLL
        for (int i = 0; i < 4; ++i) {
            rows::image(down[0][i], down[1][i], down[2][i], down[3][i], to[i]);
        }
    }
};

// A tile's 4x4 pixels, transformed: a vector of channels for each place in the tile, and the next
// vectors `next_vector` further on. Neighbouring channels make a pair.
template <class F>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_image(tiling const& t, sum_type<F> const* x, tile_place const& place,
                sum_type<F> const* zeros, F* to, std::ptrdiff_t next_place,
                std::ptrdiff_t next_vector) {
    using T = sum_type<F>;
    tile_pixels<T> const pixels{t, x, place, zeros};
    for (std::ptrdiff_t c = 0; c < t.channels; to += next_vector) {
        vec<T> numbers[size_t(numbers_in<F>)][4][4];
        CASTNET_UNROLL
        for (int k = 0; k < numbers_in<F>; ++k, c += simd<T>::width) {
            pixels.transform(c, numbers[k]);
        }
        store_places<pairing::neighbours, F>(numbers, to, next_place);
    }
}
// The same where the pixels of two tiles make a pair.
template <class F>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_images(tiling const& t, sum_type<F> const* x,
                 tile_place const (&place)[size_t(numbers_in<F>)], sum_type<F> const* zeros, F* to,
                 std::ptrdiff_t next_place, std::ptrdiff_t next_vector) {
    using T = sum_type<F>;
    if constexpr (numbers_in<F> == 1) {
        transform_image<F>(t, x, place[0], zeros, to, next_place, next_vector);
    } else {
        tile_pixels<T> const first{t, x, place[0], zeros}, second{t, x, place[1], zeros};
        for (std::ptrdiff_t c = 0; c < t.channels; c += simd<T>::width, to += next_vector) {
            vec<T> numbers[2][4][4];
            first.transform(c, numbers[0]);
            second.transform(c, numbers[1]);
            store_places<pairing::rows, F>(numbers, to, next_place);
        }
    }
}

// The products of a tile, transformed back to its 2x2 results; those outside the image are dropped.
template <class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_result(tiling const& t, T const* from, std::ptrdiff_t next_place, tile_end<T> const& end,
                 tile_place const& at, T* y) {
    using rows = winograd_rows<T>;
    T* const first =
        y + at.image * t.result_count() + (std::ptrdiff_t{at.y} * t.out_width + at.x) * t.filters;
    bool const has_second_row = at.y + t.dilation < t.out_height,
               has_second_column = at.x + t.dilation < t.out_width;
    for (std::ptrdiff_t k = 0; k < t.filters; k += simd<T>::width) {
        vec<T> down[4][2];
        CASTNET_UNROLL
        for (int j = 0; j < 4; ++j) {
            T const* const column = from + j * next_place + k;
            rows::result(load(column), load(column + 4 * next_place), load(column + 8 * next_place),
                         load(column + 12 * next_place), down[j]);
        }
        vec<T> const bias = end.bias ? load(end.bias + k) : vec<T>{};
        CASTNET_UNROLL
        for (int i = 0; i < 2; ++i) {
            vec<T> across[2];
            rows::result(down[0][i], down[1][i], down[2][i], down[3][i], across);
            CASTNET_UNROLL
            for (int j = 0; j < 2; ++j) {
                vec<T> result = across[j] + bias;
                if (end.rectifies) {
                    result = rectified<T>(result, end.most);
                }
                if ((i == 0 || has_second_row) && (j == 0 || has_second_column)) {
                    store(result,
                          first + (std::ptrdiff_t{i} * t.out_width + j) * t.dilation * t.filters +
                              k);
                }
            }
        }
    }
}

// The gradients of a tile's 2x2 results as weights over its pixels, or of two tiles' in pairs. The
// filters come in panels of a product's columns, `next_panel` apart.
template <class F>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_gradient(tiling const& t, sum_type<F> const* dy,
                   tile_place const (&place)[size_t(numbers_in<F>)], sum_type<F> const* zeros,
                   F* to, std::ptrdiff_t next_place, std::ptrdiff_t next_panel) {
    using T = sum_type<F>;
    using rows = winograd_rows<T>;
    T const* pixel[size_t(numbers_in<F>)][2][2];
    for (int i = 0; i < numbers_in<F>; ++i) {
        find_pixels(dy + place[i].image * t.result_count(), t.out_height, t.out_width, t.filters,
                    place[i].y, place[i].x, t.dilation, zeros, pixel[i]);
    }
    for (std::ptrdiff_t k = 0; k < t.filters; k += simd<T>::width) {
        vec<T> numbers[size_t(numbers_in<F>)][4][4];
        CASTNET_UNROLL
        for (int n = 0; n < numbers_in<F>; ++n) {
            vec<T> down[2][4];
            CASTNET_UNROLL
            for (int j = 0; j < 2; ++j) {
                rows::gradient(load(pixel[n][0][j] + k), load(pixel[n][1][j] + k), down[j]);
            }
            CASTNET_UNROLL
            for (int i = 0; i < 4; ++i) {
                rows::gradient(down[0][i], down[1][i], numbers[n][i]);
            }
        }
        store_places<pairing::rows, F>(
            numbers, to + k / tile_columns<F> * next_panel + k % tile_columns<F>, next_place);
    }
}

// The weights of a channel for some filters, `next_tap` apart; transformed, `next_place` apart.
// Those `next_number` further on are the second ones of pairs.
template <pairing P, class F>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_weight(sum_type<F> const* from, std::ptrdiff_t next_number, std::ptrdiff_t next_tap,
                 F* to, std::ptrdiff_t next_place) {
    using T = sum_type<F>;
    using rows = winograd_rows<T>;
    vec<T> numbers[size_t(numbers_in<F>)][4][4];
    CASTNET_UNROLL
    for (int n = 0; n < numbers_in<F>; ++n, from += next_number) {
        vec<T> down[3][4];
        CASTNET_UNROLL
        for (int j = 0; j < 3; ++j) {
            rows::weight(load(from + j * next_tap), load(from + (3 + j) * next_tap),
                         load(from + (6 + j) * next_tap), down[j]);
        }
        CASTNET_UNROLL
        for (int i = 0; i < 4; ++i) {
            rows::weight(down[0][i], down[1][i], down[2][i], numbers[n][i]);
        }
    }
    store_places<P, F>(numbers, to, next_place);
}

// The sums of products of a channel for some filters, transformed back to gradients of weights.
template <class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
transform_weight_gradient(T const* from, std::ptrdiff_t next_place, T* to,
                          std::ptrdiff_t next_tap) {
    using rows = winograd_rows<T>;
    vec<T> down[4][3];
    CASTNET_UNROLL
    for (int j = 0; j < 4; ++j) {
        T const* const column = from + j * next_place;
        rows::weight_gradient(load(column), load(column + 4 * next_place),
                              load(column + 8 * next_place), load(column + 12 * next_place),
                              down[j]);
    }
    CASTNET_UNROLL
    for (int i = 0; i < 3; ++i) {
        vec<T> across[3];
        rows::weight_gradient(down[0][i], down[1][i], down[2][i], down[3][i], across);
        CASTNET_UNROLL
        for (int j = 0; j < 3; ++j) {
            store(across[j], to + (i * 3 + j) * next_tap);
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
