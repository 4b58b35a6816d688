// Bitmap: an image of bytes as files hold it, rows from the top, the channels of a pixel together.
#pragma once

#include <castnet/data/pixels.hpp>
#include <castnet/io/source.hpp>

#include <utility>

namespace castnet::image {

using data::rectangle;
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

namespace detail {

// Throws castnet::error unless the image has one channel or three, and pixels for its size.
[[gnu::noinline]] inline void check_bitmap(char const* call, bitmap const& image) {
    if (image.channels != 1 && image.channels != 3) {
        throw error({"castnet: ", call, ": the image has ", image.channels,
                     " channels, expected 1 (grey) or 3 (red, green, blue)"});
    }
    auto const found = image.pixels.size(), row = image.width * image.channels;
    bool const fits = image.width == 0 || image.height == 0
                          ? found == 0
                          : image.width <= found && found % row == 0 && found / row == image.height;
    if (!fits) {
        throw error({"castnet: ", call, ": the image holds ", found, " bytes, expected ",
                     image.channels, " for each of its ", image.width, " x ", image.height,
                     " pixels"});
    }
}

} // namespace detail

// For functions that choose a part of an image by its size.
inline rectangle whole_image(size_t width, size_t height) {
    return {0, 0, width, height};
}

// How a camera was held: Exif's orientation, from 1 (as it is) to 8.
class turn {
public:
    explicit turn(int orientation)
        : number_{orientation >= 1 && orientation <= 8 ? orientation - 1 : 0} {}

    bool swaps_axes() const { return number_ >= 4; }

    // The image as the camera was held.
    bitmap after(bitmap image) const {
        if (number_ == 0) {
            return image;
        }
        bitmap turned = swaps_axes() ? bitmap{image.height, image.width, image.channels}
                                     : bitmap{image.width, image.height, image.channels};
        unsigned char* out = turned.pixels.data();
        for (size_t y = 0; y < turned.height; ++y) {
            for (size_t x = 0; x < turned.width; ++x) {
                size_t const column = swaps_axes() ? y : x, line = swaps_axes() ? x : y;
                auto const* const from =
                    image.pixel(x_reversed() ? image.width - 1 - column : column,
                                y_reversed() ? image.height - 1 - line : line);
                for (size_t c = 0; c < image.channels; ++c) {
                    *out++ = from[c];
                }
            }
        }
        return turned;
    }

    // Where a part of the turned image lies in the image of width x height pixels before.
    rectangle before(rectangle part, size_t width, size_t height) const {
        if (swaps_axes()) {
            part = {part.y, part.x, part.height, part.width};
        }
        if (x_reversed()) {
            part.x = width - part.x - part.width;
        }
        if (y_reversed()) {
            part.y = height - part.y - part.height;
        }
        return part;
    }

private:
    // Which axes of the file run backwards: 2 the columns, 3 both, 4 the rows; 5 to 8 swap the axes
    // afterwards.
    bool x_reversed() const { return number_ == 1 || number_ == 2 || number_ == 6 || number_ == 7; }
    bool y_reversed() const { return number_ == 2 || number_ == 3 || number_ == 5 || number_ == 6; }

    int number_;
};

// A part of an image, which must lie within it.
inline bitmap cropped(bitmap const& image, rectangle const& part) {
    bitmap result{part.width, part.height, image.channels};
    for (size_t y = 0; y < part.height; ++y) {
        std::copy_n(image.pixel(part.x, part.y + y), part.width * image.channels, result.row(y));
    }
    return result;
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
