// Gradients of the weights of convolutions of few filters: vectors lie along the rows of the
// window, whose pixels are neighbours in memory, and their sums stay in registers over a band of
// pixels.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/band_conv.hpp>
#include <castnet/device/cpu/shallow_conv.hpp>

#include <algorithm>
#include <type_traits>

namespace castnet::cpu::inline CASTNET_TARGET {

// The only decision which gradients are computed so: rows should fill vectors, and filters fewer of
// them than a tile has, or much less of them than rows do.
template <class T>
constexpr bool sums_rows(window const& w) {
    constexpr int width = simd<T>::width;
    auto const whole_vectors = [](std::ptrdiff_t n) { return (n + width - 1) / width * width; };
    std::ptrdiff_t const run = forward_window(w).window_depth().length;
    std::ptrdiff_t const lanes = whole_vectors(run);
    return w.groups == 1 && sums_by_chunk(w) &&
           (w.filters <= 2 * width ? 3 * run >= 2 * lanes
                                   : 4 * run * whole_vectors(w.filters) > 5 * lanes * w.filters) &&
           (!is_shallow(w) || w.filters <= width / 2);
}

// Vectors and filters whose sums stay in registers.
inline constexpr int row_sum_vectors = 3, row_sum_filters = vector_registers >= 32 ? 8 : 4;

// Adds to `to`, whose rows lie `filters` apart, the sums of x * dy over these pixels for `places`
// elements of the window and some filters. What vectors have beyond those is left out.
template <int Vectors, int Filters, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void row_sums(T const* x, runs const& r, T const* dy,
                                                     std::ptrdiff_t filters, std::ptrdiff_t places,
                                                     int filters_here, T* to) {
    constexpr int width = simd<T>::width;
    vec<T> sum[size_t(Filters)][size_t(Vectors)] = {};
    std::ptrdiff_t const step = r.step;
    for (std::ptrdiff_t outer = 0; outer < r.outer; ++outer) {
        for (std::ptrdiff_t inner = 0; inner < r.inner; ++inner) {
            T const* from = x + outer * r.outer_step + inner * r.inner_step;
            for (T const* const end = from + r.length * step; from != end; from += step) {
                vec<T> left[size_t(Vectors)];
                CASTNET_UNROLL
                for (int j = 0; j < Vectors; ++j) {
                    left[j] = *reinterpret_cast<vec<T> const*>(from + j * width);
                }
                CASTNET_UNROLL
                for (int f = 0; f < Filters; ++f) {
                    T const right = dy[f];
                    CASTNET_UNROLL
                    for (int j = 0; j < Vectors; ++j) {
                        sum[f][j] = multiply_add(right, left[j], sum[f][j]);
                    }
                }
                dy += filters;
            }
        }
    }
    T part[size_t(Filters)][size_t(Vectors * width)];
    CASTNET_UNROLL
    for (int f = 0; f < Filters; ++f) {
        CASTNET_UNROLL
        for (int j = 0; j < Vectors; ++j) {
            *reinterpret_cast<vec<T>*>(part[f] + j * width) = sum[f][j];
        }
    }
    for (std::ptrdiff_t i = 0; i < places; ++i) {
        for (int f = 0; f < filters_here; ++f) {
            to[i * filters + f] += part[f][i];
        }
    }
}

template <int Filters, class T>
void row_sums_of(int vectors, T const* x, runs const& r, T const* dy, std::ptrdiff_t filters,
                 std::ptrdiff_t places, int filters_here, T* to) {
    auto const sums = vectors > 2   ? &row_sums<3, Filters, T>
                      : vectors > 1 ? &row_sums<2, Filters, T>
                                    : &row_sums<1, Filters, T>;
    sums(x, r, dy, filters, places, filters_here, to);
}

// Adds the gradient of the weights by a chunk's samples to its sum.
template <class T>
void row_conv_weight(kernel_launch const& s, tables const& t, context<T> const& c) {
    constexpr std::ptrdiff_t width = simd<T>::width, most = row_sum_vectors * width;
    window const& w = t.windows[s.window];
    T const* const dy = c.at(t.arrays[s.first_array + 1]);
    T* const sum = c.sum_at(t.arrays[s.sums]);
    sliding const geometry = forward_window(w);
    depth const d = geometry.window_depth();
    band_walk<T> walk{w, c.samples, c.at(t.arrays[s.first_array]), scratch_of(s, t, c)};
    while (walk.next()) {
        runs const pixels = runs_of(geometry, walk.at, walk.next_image);
        T const* const gradient = dy + walk.at.image * result_count(w) +
                                  std::ptrdiff_t{walk.at.row} * w.out_width * w.filters;
        T* to = sum;
        for (std::ptrdiff_t run = 0; run < d.outer * d.inner; ++run) {
            T const* const from =
                walk.from + run / d.inner * d.outer_step + run % d.inner * d.inner_step;
            for (std::ptrdiff_t first = 0; first < d.length; first += most) {
                std::ptrdiff_t const places = std::min(most, d.length - first);
                auto const vectors = static_cast<int>((places + width - 1) / width);
                for (int f = 0; f < w.filters; f += row_sum_filters) {
                    int const here = std::min(row_sum_filters, w.filters - f);
                    auto const sums = here > 4   ? &row_sums_of<row_sum_filters, T>
                                      : here > 1 ? &row_sums_of<4, T>
                                                 : &row_sums_of<1, T>;
                    sums(vectors, from + first, pixels, gradient + f, w.filters, places, here,
                         to + f);
                }
                to += places * w.filters;
            }
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
