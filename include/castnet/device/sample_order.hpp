// Memory layout of samples on every device: from an element's logical (row-major) index to its
// place. Also that of parameters that are no weights of a product.
#pragma once

#include <castnet/graph/node.hpp>
#include <castnet/graph/parameter.hpp>

#include <cstddef>

namespace castnet::ir {

// The channels of an image lie innermost, everything else in logical order.
constexpr std::ptrdiff_t place_in_sample(std::ptrdiff_t i, extents size, bool image) {
    return image ? i % size.pixels * size.channels + i / size.pixels : i;
}

constexpr std::ptrdiff_t place_as_sample(std::ptrdiff_t i, parameter const& p) {
    return p.rank == 3 ? place_in_sample(i, {false, p.dims[1] * p.dims[2], p.dims[0]}, true) : i;
}

} // namespace castnet::ir
