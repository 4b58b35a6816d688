// Memory layout of a sample on every device: from an element's logical (row-major) index to its
// place. Also that of a parameter that is no weight of a product.
#pragma once

#include <castnet/graph/extents.hpp>

#include <cstddef>

namespace castnet::ir {

constexpr std::ptrdiff_t place_in_sample(std::ptrdiff_t i, extents size) {
    return size.in_logical_order() ? i : i % size.pixels * size.channels + i / size.pixels;
}

// Calls f(logical index, place) for all elements of an image, such that those close to each other
// in one order soon follow one another in the other one, too.
template <int Pixels, int Channels, class F>
void for_each_place(F const& f) {
    constexpr std::ptrdiff_t pixels = Pixels, channels = Channels;
    if constexpr (channels <= 32) {
        for (std::ptrdiff_t pixel = 0; pixel < pixels; ++pixel) {
            for (std::ptrdiff_t channel = 0; channel < channels; ++channel) {
                f(channel * pixels + pixel, pixel * channels + channel);
            }
        }
    } else {
        constexpr std::ptrdiff_t together = 16;
        for (std::ptrdiff_t first = 0; first < pixels; first += together) {
            std::ptrdiff_t const last = first + together < pixels ? first + together : pixels;
            for (std::ptrdiff_t channel = 0; channel < channels; ++channel) {
                for (std::ptrdiff_t pixel = first; pixel < last; ++pixel) {
                    f(channel * pixels + pixel, pixel * channels + channel);
                }
            }
        }
    }
}

} // namespace castnet::ir
