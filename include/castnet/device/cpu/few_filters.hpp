// Convolutions of few filters, such as the last one of a network that makes images: a vector along
// the filters would be half empty, so vectors lie along the rows of the window, whose pixels are
// neighbours in memory. The sums of some pixels are turned in registers, so that a vector of
// results is added up and stored at once.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/tile.hpp>
#include <castnet/cpu/transpose.hpp>
#include <castnet/device/cpu/band_conv.hpp>
#include <castnet/device/cpu/data_window.hpp>
#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/runs.hpp>
#include <castnet/device/cpu/sliding.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// Vectors along all rows of the window.
template <class T>
constexpr std::ptrdiff_t row_vectors(window const& w) {
    std::ptrdiff_t const run = forward_window(w).window_depth().length;
    return window_places(w) / run * ((run + simd<T>::width - 1) / simd<T>::width);
}

// The only decision which convolutions have few filters: those that take fewer instructions this
// way than with vectors along the filters; six vectors are what turning and adding up costs.
template <class T>
constexpr bool has_few_filters(window const& w) {
    return w.groups == 1 && w.filters <= simd<T>::width / 2 &&
           w.out_width >= simd<T>::width / w.filters &&
           5 * w.filters * (row_vectors<T>(w) + 6) < 6 * window_places(w);
}

// The weights as the kernel reads them: for each vector along the window, one of every filter.
template <class T>
constexpr std::ptrdiff_t few_filters_weights(window const& w) {
    return row_vectors<T>(w) * w.filters * simd<T>::width;
}
template <class T>
void pack_few_filters(window const& w, weight_view<T> const& weight, T* to) {
    constexpr std::ptrdiff_t width = simd<T>::width;
    std::ptrdiff_t const run = forward_window(w).window_depth().length;
    for (std::ptrdiff_t begin = 0; begin < window_places(w); begin += run) {
        for (std::ptrdiff_t first = begin; first < begin + run; first += width) {
            for (std::ptrdiff_t f = 0; f < w.filters; ++f) {
                for (std::ptrdiff_t i = first; i < first + width; ++i, ++to) {
                    *to = i < begin + run ? weight.at(i / w.channels, i % w.channels, f) : T(0);
                }
            }
        }
    }
}

// Some pixels that begin `step[1]` apart; step[i] is i times that.
template <int Filters, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
few_filters_tile(T const* x, std::ptrdiff_t const (&step)[5], depth const& d, T const* weight,
                 tile_end<T> const& end, T const* bias, T* to) {
    constexpr int width = simd<T>::width, pixels = width / Filters;
    vec<T> sum[size_t(width)] = {};
    auto const add = [&](T const* from, auto const& load) __attribute__((always_inline)) {
        vec<T> right[size_t(Filters)];
        CASTNET_UNROLL
        for (int f = 0; f < Filters; ++f) {
            right[f] = *reinterpret_cast<vec<T> const*>(weight + f * width);
        }
        weight += Filters * width;
        CASTNET_UNROLL
        for (int p = 0; p < pixels; ++p) {
            vec<T> const left = load(*reinterpret_cast<vec<T> const*>(from + step[p % 4]));
            CASTNET_UNROLL
            for (int f = 0; f < Filters; ++f) {
                sum[p * Filters + f] = multiply_add(left, right[f], sum[p * Filters + f]);
            }
            if (p % 4 == 3) {
                from += step[4];
            }
        }
    };
    std::ptrdiff_t const whole = d.length / width * width;
    vec<T> lane, rest{};
    for (int i = 0; i < width; ++i) {
        lane[i] = T(i);
    }
    rest += T(d.length - whole);
    for (std::ptrdiff_t outer = 0; outer < d.outer; ++outer) {
        for (std::ptrdiff_t inner = 0; inner < d.inner; ++inner) {
            T const* from = x + outer * d.outer_step + inner * d.inner_step;
            for (T const* const last = from + whole; from != last; from += width) {
                add(from, [](vec<T> const& v) __attribute__((always_inline)) { return v; });
            }
            if (whole != d.length) { // what lies past the row may be NaN
                add(from, [&](vec<T> const& v) __attribute__((always_inline)) {
                    return lane < rest ? v : vec<T>{};
                });
            }
        }
    }
    turn_lanes<1, T>(sum);
    CASTNET_UNROLL
    for (int distance = width / 2; distance > 0; distance /= 2) {
        CASTNET_UNROLL
        for (int i = 0; i < distance; ++i) {
            sum[i] += sum[i + distance];
        }
    }
    if (bias) {
        sum[0] += *reinterpret_cast<vec<T> const*>(bias);
    }
    if (end.rectifies) {
        sum[0] = rectified<T>(sum[0], end.most);
    }
    std::memcpy(to, &sum[0], size_t(pixels * Filters) * sizeof(T));
}

// The pixels of a band.
template <int Filters, class T>
void few_filters_band(runs const& r, T const* x, depth const& d, T const* weight,
                      tile_end<T> const& end, T* to) {
    constexpr std::ptrdiff_t width = simd<T>::width, pixels = width / Filters;
    T bias[size_t(width)] = {};
    for (std::ptrdiff_t i = 0; end.bias && i < pixels * Filters; ++i) {
        bias[i] = end.bias[i % Filters];
    }
    std::ptrdiff_t step[5] = {};
    for (int i = 1; i < 5; ++i) {
        step[i] = i * r.step;
        CASTNET_OPAQUE(step[i]); // otherwise each is computed from the previous one
    }
    for (std::ptrdiff_t outer = 0; outer < r.outer; ++outer) {
        for (std::ptrdiff_t inner = 0; inner < r.inner; ++inner, to += r.length * Filters) {
            T const* const from = x + outer * r.outer_step + inner * r.inner_step;
            for (std::ptrdiff_t p = 0; p < r.length; p += pixels) {
                p = std::min(p, r.length - pixels); // the last tile repeats some pixels
                few_filters_tile<Filters>(from + p * r.step, step, d, weight, end,
                                          end.bias ? bias : nullptr, to + p * Filters);
            }
        }
    }
}

template <int Filters, bool Turned, class T>
void few_filters_conv(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const w = Turned ? data_window(t.windows[s.window]) : t.windows[s.window];
    depth const d = forward_window(w).window_depth();
    T const* const weight = c.at(t.arrays[s.prepared]);
    tile_end<T> const end = Turned ? tile_end<T>{} : tile_end_of(s, t, c);
    for_each_band(w, s, t, c, [&](T const* x, runs const& pixels, T* y) {
        few_filters_band<Filters>(pixels, x, d, weight, end, y);
    });
}
template <bool Turned, class T>
void few_filters_prepare(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    pack_few_filters(Turned ? data_window(w) : w,
                     weight_view<T>::of(w, c.at(t.arrays[s.first_array + 1]), Turned),
                     c.at(t.arrays[s.prepared]));
}

// Of a convolution, or of the gradient by its image.
template <bool Turned, class T>
constexpr kernel<T> few_filters_kernel(int filters) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
        kernel<T> all[] = {
            {&few_filters_conv<I + 1, Turned, T>, &few_filters_prepare<Turned, T>}...};
        return all[filters - 1];
    }(std::make_integer_sequence<int, simd<T>::width / 2>{});
}

} // namespace castnet::cpu::inline CASTNET_TARGET
