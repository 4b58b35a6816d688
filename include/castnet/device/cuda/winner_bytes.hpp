// Bytes that say which pixel of a window of max pooling is the largest, for its gradient.
#pragma once

#include <castnet/device/ir.hpp>

namespace castnet::cuda {

CASTNET_HD constexpr int winner_bytes(window const& w) {
    std::ptrdiff_t const pixels =
        w.adaptive ? std::ptrdiff_t{w.height} * w.width : std::ptrdiff_t{w.kernel_h} * w.kernel_w;
    return pixels <= 256 ? 1 : 4;
}

} // namespace castnet::cuda
