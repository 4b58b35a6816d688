// Bitmap: an image of bytes as files hold it, rows from the top, the channels of a pixel together.
#pragma once

#include <castnet/io/source.hpp>

#include <utility>

namespace castnet::image {

using io::bytes;
using std::size_t;

struct bitmap {
    size_t width = 0, height = 0;
    size_t channels = 0; // 1: grey, 3: red, green, blue
    bytes pixels{};      // height * width * channels

    bitmap() = default;
    // Black.
    bitmap(size_t columns, size_t rows, size_t each)
        : width{columns}, height{rows}, channels{each}, pixels(columns * rows * each) {}

    unsigned char* row(size_t y) { return pixels.data() + y * width * channels; }
    unsigned char const* row(size_t y) const { return pixels.data() + y * width * channels; }
    unsigned char const* pixel(size_t x, size_t y) const { return row(y) + x * channels; }
};

// A part of an image, in pixels from its upper left corner.
struct rectangle {
    size_t x = 0, y = 0, width = 0, height = 0;
};

// The image as its camera was held: `orientation` is Exif's number from 1 (as it is) to 8.
inline bitmap oriented(bitmap image, int orientation) {
    if (orientation <= 1 || orientation > 8) {
        return image;
    }
    int const turn = orientation - 1;
    bool const swaps_axes = turn >= 4;
    // Which axes of the file run backwards: 2 the columns, 3 both, 4 the rows; 5 to 8 swap the axes
    // afterwards.
    bool const x_reversed = turn == 1 || turn == 2 || turn == 6 || turn == 7;
    bool const y_reversed = turn == 2 || turn == 3 || turn == 5 || turn == 6;
    bitmap turned = swaps_axes ? bitmap{image.height, image.width, image.channels}
                               : bitmap{image.width, image.height, image.channels};
    unsigned char* out = turned.pixels.data();
    for (size_t y = 0; y < turned.height; ++y) {
        for (size_t x = 0; x < turned.width; ++x) {
            size_t const column = swaps_axes ? y : x, line = swaps_axes ? x : y;
            auto const* const from = image.pixel(x_reversed ? image.width - 1 - column : column,
                                                 y_reversed ? image.height - 1 - line : line);
            for (size_t c = 0; c < image.channels; ++c) {
                *out++ = from[c];
            }
        }
    }
    return turned;
}

// The image with one channel (ITU-R 601 luma, as PIL converts to "L") or three.
inline bitmap with_channels(bitmap image, size_t channels) {
    if (image.channels == channels) {
        return image;
    }
    bitmap converted{image.width, image.height, channels};
    unsigned char const* in = image.pixels.data();
    for (size_t i = 0; i < image.width * image.height; ++i) {
        if (channels == 1) {
            unsigned const luma =
                19595U * in[3 * i] + 38470U * in[3 * i + 1] + 7471U * in[3 * i + 2];
            converted.pixels[i] = static_cast<unsigned char>((luma + 0x8000U) >> 16);
        } else {
            for (size_t c = 0; c < channels; ++c) {
                converted.pixels[channels * i + c] = in[i];
            }
        }
    }
    return converted;
}

} // namespace castnet::image
