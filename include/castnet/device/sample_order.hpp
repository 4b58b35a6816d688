// Where the element with logical (row-major) number i of a sample lies in the memory of every
// device.
#pragma once

#include <castnet/graph/node.hpp>

#include <cstddef>

namespace castnet {

// The channels of an image lie innermost, everything else in logical order.
constexpr std::ptrdiff_t place_in_sample(std::ptrdiff_t i, extents size, bool image) {
    return image ? i % size.pixels * size.channels + i / size.pixels : i;
}

} // namespace castnet
