// Pooling to an image of a given size: adaptive_avg_pool2d and adaptive_max_pool2d.
#pragma once

#include <castnet/nn/pooling.hpp>

namespace castnet {

namespace detail {

// (Where the result's extents divide the image's, the windows of ordinary pooling.)
constexpr ir::window adaptive_window(int channels, int height, int width, int rows, int columns) {
    ir::window w{channels, height, width, channels, rows, columns};
    w.kernel_h = w.stride_h = (height + rows - 1) / rows;
    w.kernel_w = w.stride_w = (width + columns - 1) / columns;
    w.adaptive = height % rows != 0 || width % columns != 0;
    return w;
}

} // namespace detail

// (channels, height, width) becomes (channels, Result.h, Result.w). Along each axis, window i of n
// over an extent of m reaches from floor(i m / n) to ceil((i + 1) m / n), so that windows differ in
// size and overlap where n does not divide m (PyTorch's AdaptiveAvgPool2d).
template <op Kind, size2 Result>
struct adaptive_pool2d_layer {
    static constexpr char const* name =
        Kind == op::max_pool ? "adaptive_max_pool2d" : "adaptive_avg_pool2d";
    static constexpr bool has_result = Result.h > 0 && Result.w > 0;
    static_assert(has_result, "castnet: adaptive pooling: the result has no pixels");

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_image(x, [](auto image) {
            if constexpr (has_result) {
                return pooled(image);
            } else {
                return image;
            }
        });
    }

private:
    template <size_t C, size_t H, size_t W>
    static constexpr auto pooled(symbol<shape<C, H, W>> x) {
        return pool<Kind, shape<C, Result.h, Result.w>>(
            x, detail::adaptive_window(int(C), int(H), int(W), int(Result.h), int(Result.w)));
    }
};

template <size2 Result>
inline constexpr adaptive_pool2d_layer<op::avg_pool, Result> adaptive_avg_pool2d{};

// The first of equal pixels of a window gets the gradient. NaN is treated as by max_pool2d.
template <size2 Result>
inline constexpr adaptive_pool2d_layer<op::max_pool, Result> adaptive_max_pool2d{};

} // namespace castnet
