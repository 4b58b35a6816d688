// Volumes (channels, depth, height, width): their shape, and kernel sizes, strides and padding of
// what slides over them.
#pragma once

#include <castnet/graph/op/rearrange.hpp>
#include <castnet/nn/window.hpp>

namespace castnet {

// The shape of a volume within a network, whose channels lie innermost in memory: that of
// input<channels, depth, height, width>. Another tensor with four axes, as a reshape makes it,
// becomes one where a convolution or pooling of volumes reads it.
template <size_t Channels, size_t Depth, size_t Height, size_t Width>
using volume = detail::shape_in<memory_order::channels_last, Channels, Depth, Height, Width>;

template <class S>
inline constexpr bool is_volume = S::rank == 4;

// Depth, height and width; a single number means all.
struct size3 {
    size_t d = 1, h = 1, w = 1;
    constexpr size3(size_t all) : d{all}, h{all}, w{all} {}
    constexpr size3(size_t depth, size_t height, size_t width) : d{depth}, h{height}, w{width} {}
    constexpr size2 of_slice() const { return {h, w}; }
};

// valid, same, or a number of slices, rows and columns on every side (PyTorch's), of each or
// {slices, rows, columns}, a size3; see padding2.
struct padding3 {
    padding2 of_slice = valid;
    size_t slices = 0;
    constexpr padding3(padding2 all) : of_slice{all}, slices{all.pixels.h} {}
    constexpr padding3(size_t each_side) : of_slice{each_side}, slices{each_side} {}
    constexpr padding3(size3 each_side) : of_slice{each_side.of_slice()}, slices{each_side.d} {}
    constexpr padding3(size_t depth, size_t rows, size_t columns)
        : of_slice{rows, columns}, slices{depth} {}
    // (Of all members: so nvcc writes template arguments.)
    constexpr padding3(padding2 slice, size_t depth) : of_slice{slice}, slices{depth} {}
};

namespace detail {

// In the order in memory of a volume.
template <Shape S>
constexpr auto as_volume(symbol<S> x) {
    return reshaped(x, volume<S::extent[0], S::extent[1], S::extent[2], S::extent[3]>{});
}

template <Shape S, class F>
constexpr auto over_volume(symbol<S> x, F layer) {
    static_assert(is_volume<S>,
                  "castnet: pooling and up-sampling in three dimensions need a volume (channels, "
                  "depth, height, width); see is_volume<input shape>");
    if constexpr (is_volume<S>) {
        return layer(as_volume(x));
    } else {
        return x;
    }
}

// A volume as an image whose rows are its slices.
template <Shape S>
constexpr auto rows_of_slices(symbol<S> x) {
    return symbol<shape<S::extent[0], S::extent[1], S::extent[2] * S::extent[3]>>{x.g, x.id};
}

constexpr axis_window along_depth(size_t depth, size_t kernel, size_t stride,
                                  padding3 const& padding, size_t dilation) {
    return along(static_cast<int>(depth), static_cast<int>(kernel), static_cast<int>(stride),
                 static_cast<int>(dilation), padding.of_slice.same,
                 static_cast<int>(padding.slices));
}

// Whether each place of a window is one pixel of the image, in order.
constexpr bool is_identity(ir::window const& w) {
    return w.kernel_h == 1 && w.kernel_w == 1 && w.out_height == w.height &&
           w.out_width == w.width && w.stride_h == 1 && w.stride_w == 1 && w.pad_top == 0 &&
           w.pad_left == 0;
}

} // namespace detail
} // namespace castnet
