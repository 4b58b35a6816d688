// Numbers of the rows of matrices.
#pragma once

#include <castnet/graph/op/rearrange.hpp>
#include <castnet/graph/op/source.hpp>

namespace castnet {

// 0, 1, 2, … along the last but one axis of S, which is no image, for all of its channels: S with a
// single channel.
template <Shape S>
constexpr symbol<with_channels<S, 1>> row_index(ir::graph& g) {
    constexpr size_t rows = S::extent[S::rank - 2];
    using matrices = shape<pixels_of<S> / rows, rows>;
    return reshaped(channel_index<matrices>(g) + 0, with_channels<S, 1>{});
}

} // namespace castnet
