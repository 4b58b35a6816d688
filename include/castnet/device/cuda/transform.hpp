// Transform of a device-resident data set's images, pixel by pixel: what data::augment() does on
// the host, by the same functions.
#pragma once

#include <castnet/device/cuda/gather.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/quotient.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet::cuda {

// An image of a data set, channels innermost, as such functions read it.
template <class T>
struct stored_image {
    stored_array<T> from;
    std::size_t first, channels, height, width;

    CASTNET_HD T get(std::size_t channel, std::size_t y, std::size_t x) const {
        return from.get(first + (y * width + x) * channels + channel);
    }
};
// And as they write one.
template <class T>
struct changed_image {
    T* to;
    std::size_t channels, width;

    CASTNET_HD void set(std::size_t channel, std::size_t y, std::size_t x, T value) const {
        to[(y * width + x) * channels + channel] = value;
    }
};

// Measures of whole images (data::MeasuresImage): the sums of `count` rows, one image after the
// other; and of `count` images the sums of their rows.
template <class Drawn, class T>
struct row_sums_body {
    Drawn const* drawn;
    stored_array<T> from;
    double* sums;
    std::size_t channels, width;
    quotient height;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::uint32_t const sample = height.divide(static_cast<std::uint32_t>(i));
            auto const rows = static_cast<std::size_t>(height.divisor);
            stored_image<T> const image{from, sample * rows * width * channels, channels, rows,
                                        width};
            sums[i] = drawn[sample].row_sum(image, static_cast<std::size_t>(i) - sample * rows);
        });
    }
};
template <class Drawn>
struct set_sums_body {
    Drawn* drawn;
    double const* sums;
    std::size_t height, width;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            double sum = 0;
            for (std::size_t y = 0; y < height; ++y) {
                sum += sums[static_cast<std::size_t>(i) * height + y];
            }
            drawn[i].set_sum(sum, height * width);
        });
    }
};

// `count` pixels of images, each of which has a function of its own.
template <class Drawn, class T>
struct transform_body {
    Drawn const* drawn;
    stored_array<T> from;
    T* to;
    std::uint32_t channels, height;
    quotient width, pixels;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::uint32_t const sample = pixels.divide(static_cast<std::uint32_t>(i));
            std::uint32_t const pixel =
                static_cast<std::uint32_t>(i) - sample * static_cast<std::uint32_t>(pixels.divisor);
            std::uint32_t const y = width.divide(pixel),
                                x = pixel - y * static_cast<std::uint32_t>(width.divisor);
            std::size_t const first =
                std::size_t{sample} * static_cast<std::size_t>(pixels.divisor) * channels;
            auto const columns = static_cast<std::size_t>(width.divisor);
            drawn[sample](stored_image<T>{from, first, channels, height, columns},
                          changed_image<T>{to + first, channels, columns}, y, x);
        });
    }
};

} // namespace castnet::cuda
