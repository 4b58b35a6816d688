// View of an image's numbers in logical order (channels, rows, columns), or of a part of them.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/shape.hpp>

#include <type_traits>
#include <vector>

namespace castnet::data {

template <class T>
struct pixels {
    T* values;
    size_t channels, height, width;

    CASTNET_HD T* row(size_t channel, size_t y) const {
        return values + (channel * height + y) * width;
    }
    size_t count() const { return channels * height * width; }

    CASTNET_HD std::remove_const_t<T> get(size_t channel, size_t y, size_t x) const {
        return row(channel, y)[x];
    }
    CASTNET_HD void set(size_t channel, size_t y, size_t x, T value) const {
        row(channel, y)[x] = value;
    }
};

// Calls change(before, image, y, x) for each pixel of the image: it sets all of the pixel's
// channels from what the image was before. Views of images have channels, height and width,
// get(channel, y, x) or set(channel, y, x, value).
template <class T, class Change>
void change_pixels(pixels<T> image, Change const& change) {
    std::vector<T> const before(image.values, image.values + image.count());
    pixels<T const> const from{before.data(), image.channels, image.height, image.width};
    for (size_t y = 0; y < image.height; ++y) {
        for (size_t x = 0; x < image.width; ++x) {
            change(from, image, y, x);
        }
    }
}

// In pixels from the upper left corner.
struct rectangle {
    size_t x = 0, y = 0, width = 0, height = 0;

    // (what lies before it is huge)
    CASTNET_HD bool contains(size_t row, size_t column) const {
        return row - y < height && column - x < width;
    }
};

} // namespace castnet::data
