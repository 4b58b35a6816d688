// Kernel sizes, strides and padding of convolution and pooling.
#pragma once

#include <castnet/core/shape.hpp>
#include <castnet/graph/node.hpp>

namespace castnet {

// Height and width; a single number means both.
struct size2 {
    size_t h = 1, w = 1;
    constexpr size2(size_t both) : h{both}, w{both} {}
    constexpr size2(size_t height, size_t width) : h{height}, w{width} {}
};

// valid: no padding; same: as much as needed for ceil(input / stride) outputs, the odd one at the
// bottom and right (TensorFlow's rule); causal, of sequences: in front only, as much as keeps every
// output from what comes after its step; or a number of rows and columns on every side, or one of
// each, {rows, columns} (PyTorch's).
struct padding2 {
    bool same = false, causal = false;
    size2 pixels = 0;
    constexpr padding2(size_t each_side) : pixels{each_side} {}
    constexpr padding2(size2 each_side) : pixels{each_side} {}
    constexpr padding2(size_t rows, size_t columns) : pixels{rows, columns} {}
    // (Of all members: so nvcc writes template arguments.)
    constexpr padding2(bool fit, bool in_front, size2 each_side)
        : same{fit}, causal{in_front}, pixels{each_side} {}
};

inline constexpr padding2 valid{false, false, 0};
inline constexpr padding2 same{true, false, 0};
inline constexpr padding2 causal{false, true, 0};

namespace detail {

struct axis_window {
    int before, after, out; // out <= 0: the kernel does not fit
};

constexpr axis_window along(int in, int kernel, int stride, int dilation, bool same, int pad) {
    int const reach = (kernel - 1) * dilation + 1;
    if (same) {
        int const out = (in + stride - 1) / stride;
        int const missing = (out - 1) * stride + reach - in;
        int const total = missing > 0 ? missing : 0;
        return {total / 2, total - total / 2, out};
    }
    int const room = in + 2 * pad - reach;
    return {pad, pad, room < 0 ? 0 : room / stride + 1};
}

} // namespace detail

// The window that slides over an image of this size; out_height or out_width is 0 if it is too
// large.
constexpr ir::window make_window(int channels, int height, int width, int filters, size2 kernel,
                                 size2 stride, padding2 padding, size2 dilation, size_t groups) {
    auto const h = detail::along(height, static_cast<int>(kernel.h), static_cast<int>(stride.h),
                                 static_cast<int>(dilation.h), padding.same,
                                 static_cast<int>(padding.pixels.h));
    auto const w = detail::along(width, static_cast<int>(kernel.w), static_cast<int>(stride.w),
                                 static_cast<int>(dilation.w), padding.same,
                                 static_cast<int>(padding.pixels.w));
    return {channels,
            height,
            width,
            filters,
            h.out,
            w.out,
            static_cast<int>(kernel.h),
            static_cast<int>(kernel.w),
            static_cast<int>(stride.h),
            static_cast<int>(stride.w),
            h.before,
            w.before,
            h.after,
            w.after,
            static_cast<int>(dilation.h),
            static_cast<int>(dilation.w),
            static_cast<int>(groups)};
}

// The same over the steps of a sequence, an image of one row.
constexpr ir::window make_window_over_time(int features, int time, int filters, size_t kernel,
                                           size_t stride, padding2 padding, size_t dilation,
                                           size_t groups) {
    if (padding.causal) {
        size_t const in_front = (kernel - 1) * dilation;
        ir::window w = make_window(features, 1, time + static_cast<int>(in_front), filters,
                                   {1, kernel}, {1, stride}, valid, dilation, groups);
        w.width = time;
        w.pad_left = static_cast<int>(in_front);
        return w;
    }
    padding.pixels.h = 0;
    return make_window(features, 1, time, filters, {1, kernel}, {1, stride}, padding, dilation,
                       groups);
}

// Whether a window of this size that moves by this stride is one.
constexpr bool can_slide(size2 kernel, size2 stride, size2 dilation = 1, size_t groups = 1) {
    return kernel.h > 0 && kernel.w > 0 && stride.h > 0 && stride.w > 0 && dilation.h > 0 &&
           dilation.w > 0 && groups > 0;
}

// Whether a size, of which a sequence has one, is a single number.
constexpr bool is_single(size2 size) {
    return size.h == size.w;
}

// Names for error messages.
template <size_t... Extents>
struct kernel;
template <class Kernel, class Input>
inline constexpr bool kernel_within = false;

} // namespace castnet
