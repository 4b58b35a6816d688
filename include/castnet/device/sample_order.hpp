// Memory layout of a sample on every device: from an element's logical (row-major) index to its
// place. Also that of a parameter that is no weight of a product.
#pragma once

#include <castnet/graph/extents.hpp>

#include <cstddef>

namespace castnet::ir {

constexpr std::ptrdiff_t place_in_sample(std::ptrdiff_t i, extents size) {
    return size.in_logical_order() ? i : i % size.pixels * size.channels + i / size.pixels;
}

} // namespace castnet::ir
