// Gradients of convolutions with respect to images of few channels, where windows move by more than
// a pixel, as in the last layer of a decoder (conv_transpose2d): a product for each place of the
// window would leave most of a vector empty, so one product has the columns of all places, and its
// results are added to the image (Caffe's col2im).
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/panels.hpp>
#include <castnet/device/cpu/sliding.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// The only decision which gradients by the image are scattered: those of fewer channels than two
// vectors have, where the vectors of all places are at most three quarters of those of each.
template <class T>
constexpr bool scatters_places(window const& w) {
    auto const vectors = [](std::ptrdiff_t columns) {
        return (columns + simd<T>::width - 1) / simd<T>::width;
    };
    std::ptrdiff_t const places = std::ptrdiff_t{w.kernel_h} * w.kernel_w;
    return w.groups == 1 && w.dilation_h == 1 && w.dilation_w == 1 && w.stride_h * w.stride_w > 1 &&
           w.channels < 2 * simd<T>::width &&
           4 * vectors(places * w.channels) <= 3 * places * vectors(w.channels);
}

template <class T>
constexpr scratch_size scattered_conv_scratch(window const& w) {
    return {0, 0, aligned(band_pixels * window_places(w)),
            packed_size<T>(w.filters, window_places(w))};
}

// The weights turned: filters x (place, channel).
template <class T>
void scattered_conv_prepare(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    pack_panels<T>(w.filters, window_places(w), {c.at(t.arrays[s.first_array + 1]), 1, w.filters},
                   c.at(t.arrays[s.prepared]));
}

// Adds what the gradient of one output pixel gives the pixels of dx under its window.
template <class T>
void add_places(window const& w, int out_y, int out_x, T const* from, T* dx) {
    int const y = out_y * w.stride_h - w.pad_top, x = out_x * w.stride_w - w.pad_left;
    int const top = std::max(-y, 0), bottom = std::min(w.kernel_h, w.height - y);
    int const left = std::max(-x, 0), right = std::min(w.kernel_w, w.width - x);
    std::ptrdiff_t const row = std::ptrdiff_t{w.kernel_w} * w.channels;
    std::ptrdiff_t const begin = std::ptrdiff_t{left} * w.channels,
                         end = std::ptrdiff_t{right} * w.channels;
    for (int ky = top; ky < bottom; ++ky) {
        T const* const places = from + ky * row;
        T* const to = dx + (std::ptrdiff_t{y + ky} * w.width + x) * w.channels;
        CASTNET_SIMD
        for (std::ptrdiff_t i = begin; i < end; ++i) {
            to[i] += places[i];
        }
    }
}

template <class T>
void scattered_conv_data(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    std::ptrdiff_t const places = window_places(w), filters = w.filters;
    std::ptrdiff_t const pixels = c.samples * w.out_height * w.out_width;
    T const* const dy = c.at(t.arrays[s.first_array]);
    T* const dx = c.at(t.arrays[s.output]);
    T* const products = scratch_of(s, t, c);
    panels<T> const weight{c.at(t.arrays[s.prepared]), tile_columns<T>, filters * tile_columns<T>};
    row_block<T> block;
    std::fill_n(dx, c.samples * image_count(w), T(0));
    int out_y = 0, out_x = 0;
    T* image = dx;
    for (std::ptrdiff_t first = 0; first < pixels; first += band_pixels) {
        std::ptrdiff_t const count = std::min<std::ptrdiff_t>(band_pixels, pixels - first);
        auto const multiply = [&] { block.multiply({filters}, weight, places); };
        block.push_run(count, dy + first * filters, filters, products, places, multiply);
        multiply();
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            add_places(w, out_y, out_x, products + i * places, image);
            if (++out_x == w.out_width) {
                out_x = 0;
                if (++out_y == w.out_height) {
                    out_y = 0;
                    image += image_count(w);
                }
            }
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
