// Convolutions of images with few channels: first layers. The product under a window ends after so
// few steps (9 for 3 x 3 pixels of one channel) that a tile of any rows would be set up longer than
// it is computed. Here the pixels of a row are computed one tile after another, and the sums of the
// weights' gradients stay in registers over a band of pixels.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/cpu/sliding.hpp>
#include <castnet/device/cpu/tile.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace castnet::cpu {

// Neighbouring pixels that are computed at once, or twice as many, and places of the window whose
// gradients are summed up at once; each with at most so many vectors of filters.
inline constexpr bool many_registers = vector_registers >= 32;
inline constexpr int shallow_pixels = many_registers ? 7 : 3, shallow_vectors = 2;
inline constexpr int shallow_places = 9, shallow_sum_vectors = many_registers ? 2 : 1;

inline constexpr std::ptrdiff_t shallow_steps = 36; // 3 x 3 pixels of 4 channels

// The one place that decides which convolutions these are. In short rows too much is repeated.
constexpr bool is_shallow(window const& w) {
    return w.groups == 1 && weight_count(w) <= shallow_steps * w.filters && w.out_width >= 12;
}

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

// Pixels of a band, in rows: where they lie in the image. Those of the result lie without gaps.
struct shallow_band {
    std::ptrdiff_t images, next_image;
    std::ptrdiff_t rows, next_row;     // of an image
    std::ptrdiff_t pixels, next_pixel; // of a row
    std::ptrdiff_t filters;
};

// What all pixels of a band have in common, for some columns of their results.
template <class T>
struct shallow_columns {
    tile_depth<T> depth;
    T const* bias; // or nullptr
    bool relu;
    std::ptrdiff_t filters; // from pixel to pixel of the result
    std::size_t bytes;      // of a pixel's columns
};

// The results of `Pixels` neighbouring pixels, which lie step[1] apart; step[i] is i times that.
// Vectors are stored whole, beyond the columns as well, while they end within the row: `room`
// elements of it follow the last vector, or so many fewer than none.
template <int Pixels, int Vectors, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
shallow_tile(T const* x, std::ptrdiff_t const (&step)[5], shallow_columns<T> const& c, T* y,
             std::ptrdiff_t room) {
    tile_depth<T> const& d = c.depth;
    std::ptrdiff_t const filters = c.filters;
    constexpr int width = simd<T>::width;
    vec<T> sum[Pixels][Vectors] = {};
    T const* b = d.b;
    std::ptrdiff_t const b_stride = d.b_stride;
    std::ptrdiff_t const* const last = d.offset + d.steps;
    for (std::ptrdiff_t const* k = d.offset; k != last; ++k, b += b_stride) {
        T const* a = x + *k;
        vec<T> right[Vectors];
        CASTNET_UNROLL
        for (int j = 0; j < Vectors; ++j) {
            right[j] = *reinterpret_cast<vec<T> const*>(b + j * width);
        }
        CASTNET_UNROLL
        for (int i = 0; i < Pixels; ++i) {
            T const left = a[step[i % 4]];
            CASTNET_UNROLL
            for (int j = 0; j < Vectors; ++j) {
                sum[i][j] += left * right[j];
            }
            if (i % 4 == 3) {
                a += step[4];
            }
        }
    }
    if (c.bias) {
        CASTNET_UNROLL
        for (int j = 0; j < Vectors; ++j) {
            vec<T> const bias = *reinterpret_cast<vec<T> const*>(c.bias + j * width);
            CASTNET_UNROLL
            for (int i = 0; i < Pixels; ++i) {
                sum[i][j] += bias;
            }
        }
    }
    if (c.relu) {
        CASTNET_UNROLL
        for (int i = 0; i < Pixels; ++i) {
            CASTNET_UNROLL
            for (int j = 0; j < Vectors; ++j) {
                sum[i][j] = sum[i][j] < T(0) ? vec<T>{} : sum[i][j];
            }
        }
    }
    if (room >= 0) {
        CASTNET_UNROLL
        for (int i = 0; i < Pixels; ++i) {
            CASTNET_UNROLL
            for (int j = 0; j < Vectors; ++j) {
                *reinterpret_cast<vec<T>*>(y + i * filters + j * width) = sum[i][j];
            }
        }
        return;
    }
    T part[Pixels][Vectors * width];
    CASTNET_UNROLL
    for (int i = 0; i < Pixels; ++i) {
        CASTNET_UNROLL
        for (int j = 0; j < Vectors; ++j) {
            *reinterpret_cast<vec<T>*>(part[i] + j * width) = sum[i][j];
        }
    }
    for (int i = 0; i < Pixels; ++i) {
        bool const whole = room + (Pixels - 1 - i) * filters >= 0;
        std::memcpy(y + i * filters, part[i], whole ? sizeof part[i] : c.bytes);
    }
}

// Some columns, `first` and on, of the results of a band.
template <int Vectors, class T>
CASTNET_WIDE_VECTORS void shallow_products(T const* x, shallow_band const& b,
                                           tile_depth<T> const& d, tile_end<T> const& end,
                                           std::ptrdiff_t first, int columns, T* y) {
    std::ptrdiff_t const pixels = b.pixels, filters = b.filters;
    std::ptrdiff_t step[5] = {};
    for (int i = 1; i < 5; ++i) {
        step[i] = i * b.next_pixel;
        CASTNET_OPAQUE(step[i]); // or one is computed from the other, pixel after pixel
    }
    shallow_columns<T> const c{{d.steps, d.offset, d.b + first, d.b_stride},
                               end.bias ? end.bias + first : nullptr,
                               end.relu,
                               filters,
                               static_cast<std::size_t>(columns) * sizeof(T)};
    for (std::ptrdiff_t image = 0; image < b.images; ++image) {
        for (std::ptrdiff_t row = 0; row < b.rows; ++row, y += pixels * filters) {
            T const* const from = x + image * b.next_image + row * b.next_row;
            std::ptrdiff_t pixel = 0;
            auto const tile = [&]<int Pixels>(std::integral_constant<int, Pixels>) __attribute__((
                                  always_inline)) {
                // What is written beyond the columns is computed later: pixels of the same row.
                std::ptrdiff_t const room =
                    (pixels - pixel - Pixels + 1) * filters - first - Vectors * simd<T>::width;
                shallow_tile<Pixels, Vectors>(from + pixel * step[1], step, c,
                                              y + pixel * filters + first, room);
            };
            constexpr std::integral_constant<int, 2 * shallow_pixels> two;
            for (; pixel + two <= pixels; pixel += two) {
                tile(two);
            }
            constexpr std::integral_constant<int, shallow_pixels> one;
            for (; pixel < pixels; pixel += one) {
                pixel = std::min(pixel, pixels - one); // the last one repeats some pixels
                tile(one);
            }
        }
    }
}

inline void shallow_offsets(sliding const& w, std::ptrdiff_t* offset) {
    depth const d = w.window_depth();
    depth_walk{d}.next(d.steps(), offset);
}

inline shallow_band shallow_band_of(sliding const& w, band const& b, std::ptrdiff_t next_image) {
    return {b.images,    next_image,
            b.rows,      w.stride_h * w.width * w.channels,
            w.out_width, w.stride_w * w.channels,
            w.filters};
}

template <class T>
void shallow_conv(window const& w, std::ptrdiff_t samples, T const* x, T const* weight,
                  tile_end<T> const& end, T* y, T* room) {
    sliding const geometry = forward_window(w);
    std::ptrdiff_t offset[shallow_steps];
    shallow_offsets(geometry, offset);
    tile_depth<T> const d{weight_count(w) / w.filters, offset, weight, w.filters};
    for_each_band(w, samples, x, room, [&](band const& b, T const* from, std::ptrdiff_t next) {
        T* const to = y + b.image * result_count(w) + b.row * geometry.out_width * w.filters;
        for_each_column_piece<shallow_vectors, T>(
            w.filters, [&]<int Vectors>(std::ptrdiff_t first, int columns,
                                        std::integral_constant<int, Vectors>) {
                shallow_products<Vectors>(from, shallow_band_of(geometry, b, next), d, end, first,
                                          columns, to);
            });
    });
}

// Adds the gradients of some places of the window to `sum`, whose rows lie `filters` apart.
template <int Vectors, class T>
CASTNET_WIDE_VECTORS void shallow_sums(T const* x, std::ptrdiff_t const* offset, int places,
                                       T const* dy, shallow_band const& b, int columns, T* to) {
    constexpr int width = simd<T>::width;
    vec<T> sum[shallow_places][Vectors] = {};
    std::ptrdiff_t const filters = b.filters, step = b.next_pixel;
    T const* row[shallow_places];
    CASTNET_UNROLL
    for (int i = 0; i < shallow_places; ++i) {
        row[i] = x + offset[std::min(i, places - 1)];
    }
    for (std::ptrdiff_t image = 0; image < b.images; ++image) {
        for (std::ptrdiff_t line = 0; line < b.rows; ++line) {
            std::ptrdiff_t at = image * b.next_image + line * b.next_row;
            for (std::ptrdiff_t const end = at + b.pixels * step; at != end; at += step) {
                vec<T> right[Vectors];
                CASTNET_UNROLL
                for (int j = 0; j < Vectors; ++j) {
                    right[j] = *reinterpret_cast<vec<T> const*>(dy + j * width);
                }
                CASTNET_UNROLL
                for (int i = 0; i < shallow_places; ++i) {
                    T const left = row[i][at];
                    CASTNET_UNROLL
                    for (int j = 0; j < Vectors; ++j) {
                        sum[i][j] += left * right[j];
                    }
                }
                dy += filters;
            }
        }
    }
    T part[shallow_places][Vectors * width];
    CASTNET_UNROLL
    for (int i = 0; i < shallow_places; ++i) {
        CASTNET_UNROLL
        for (int j = 0; j < Vectors; ++j) {
            *reinterpret_cast<vec<T>*>(part[i] + j * width) = sum[i][j];
        }
    }
    for (int i = 0; i < places; ++i) {
        for (int j = 0; j < columns; ++j) {
            to[i * filters + j] += part[i][j];
        }
    }
}

// Adds the gradient of the weights to `sum`.
template <class T>
void add_shallow_conv_weight(window const& w, std::ptrdiff_t samples, T const* x, T const* dy,
                             T* sum, T* room) {
    sliding const geometry = forward_window(w);
    std::ptrdiff_t offset[shallow_steps];
    shallow_offsets(geometry, offset);
    std::ptrdiff_t const places = weight_count(w) / w.filters;
    for_each_band(w, samples, x, room, [&](band const& b, T const* from, std::ptrdiff_t next) {
        shallow_band const pixels = shallow_band_of(geometry, b, next);
        T const* const gradient =
            dy + b.image * result_count(w) + b.row * geometry.out_width * geometry.filters;
        for_each_column_piece<shallow_sum_vectors, T>(
            w.filters, [&]<int Vectors>(std::ptrdiff_t first, int columns,
                                        std::integral_constant<int, Vectors>) {
                for (std::ptrdiff_t place = 0; place < places; place += shallow_places) {
                    int const here =
                        static_cast<int>(std::min<std::ptrdiff_t>(shallow_places, places - place));
                    shallow_sums<Vectors>(from, offset + place, here, gradient + first, pixels,
                                          columns, sum + place * w.filters + first);
                }
            });
    });
}

} // namespace castnet::cpu
