// View of an image's numbers in logical order: channels, rows, columns. And a part of an image.
#pragma once

#include <castnet/core/shape.hpp>

namespace castnet::data {

template <class T>
struct pixels {
    T* values;
    size_t channels, height, width;

    T* row(size_t channel, size_t y) const { return values + (channel * height + y) * width; }
    size_t count() const { return channels * height * width; }
};

// In pixels from the upper left corner.
struct rectangle {
    size_t x = 0, y = 0, width = 0, height = 0;
};

} // namespace castnet::data
