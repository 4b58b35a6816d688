// Number of elements of a convolution's weight.
#pragma once

#include <castnet/graph/node.hpp>

namespace castnet::ir {

constexpr std::ptrdiff_t weight_elements(window const& w) {
    return std::ptrdiff_t{w.filters} * (w.channels / w.groups) * w.kernel_h * w.kernel_w;
}

} // namespace castnet::ir
