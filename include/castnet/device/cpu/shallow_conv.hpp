// Gradients of the weights of convolutions of images with few channels, as in first layers. A
// window has so few elements (9 for 3 x 3 pixels of one channel) that its sums stay in registers
// over a band of pixels.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/cpu/band_conv.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/runs.hpp>
#include <castnet/device/cpu/sliding.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <algorithm>
#include <type_traits>

namespace castnet::cpu::inline CASTNET_TARGET {

// The only decision which convolutions are shallow. Short rows would repeat too much work.
constexpr bool is_shallow(window const& w) {
    return w.groups == 1 && weight_count(w) <= shallow_steps * w.filters && w.out_width >= 12;
}

// Pixels of the window whose gradients are summed at once, and their most vectors.
inline constexpr int shallow_places = 9, shallow_vectors = vector_registers >= 32 ? 2 : 1;

// Adds the gradients of some pixels of the window to `sum`, whose rows lie `filters` apart.
template <int Vectors, class T>
CASTNET_WIDE_VECTORS void shallow_sums(T const* x, std::ptrdiff_t const* offset, int places,
                                       T const* dy, runs const& r, std::ptrdiff_t filters,
                                       int columns, T* to) {
    constexpr int width = simd<T>::width;
    vec<T> sum[shallow_places][size_t(Vectors)] = {};
    T const* row[shallow_places];
    CASTNET_UNROLL
    for (int i = 0; i < shallow_places; ++i) {
        row[i] = x + offset[std::min(i, places - 1)];
    }
    std::ptrdiff_t const step = r.step;
    for (std::ptrdiff_t outer = 0; outer < r.outer; ++outer) {
        for (std::ptrdiff_t inner = 0; inner < r.inner; ++inner) {
            std::ptrdiff_t at = outer * r.outer_step + inner * r.inner_step;
            for (std::ptrdiff_t const end = at + r.length * step; at != end; at += step) {
                vec<T> right[size_t(Vectors)];
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
    T part[shallow_places][size_t(Vectors * width)];
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

// Adds the gradient of the weights by a chunk's samples to its sum.
template <class T>
void shallow_conv_weight(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const dy = c.at(t.arrays[s.first_array + 1]);
    T* const sum = c.sum_at(t.arrays[s.sums]);
    sliding const geometry = forward_window(w);
    std::ptrdiff_t offset[shallow_steps];
    window_offsets(geometry, offset);
    std::ptrdiff_t const places = window_places(w);
    band_walk<T> walk{w, c.samples, c.at(t.arrays[s.first_array]), scratch_of(s, t, c)};
    while (walk.next()) {
        runs const pixels = runs_of(geometry, walk.at, walk.next_image);
        T const* const gradient = dy + walk.at.image * result_count(w) +
                                  walk.at.row * geometry.out_width * geometry.filters;
        for_each_column_piece<shallow_vectors, T>(
            w.filters, [&]<int Vectors>(std::ptrdiff_t first, int columns,
                                        std::integral_constant<int, Vectors>) {
                for (std::ptrdiff_t place = 0; place < places; place += shallow_places) {
                    int const here =
                        static_cast<int>(std::min<std::ptrdiff_t>(shallow_places, places - place));
                    shallow_sums<Vectors>(walk.from, offset + place, here, gradient + first, pixels,
                                          geometry.filters, columns,
                                          sum + place * w.filters + first);
                }
            });
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
