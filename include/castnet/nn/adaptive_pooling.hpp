// Pooling to an image of a given size: adaptive_avg_pool2d and adaptive_max_pool2d.
#pragma once

#include <castnet/nn/pooling.hpp>

namespace castnet {

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
        constexpr int height = int(H), width = int(W), rows = int(Result.h),
                      columns = int(Result.w);
        // (Where they divide, these are the windows of ordinary pooling.)
        ir::window w{int(C), height, width, int(C), rows, columns};
        w.kernel_h = (height + rows - 1) / rows;
        w.kernel_w = (width + columns - 1) / columns;
        w.stride_h = w.kernel_h;
        w.stride_w = w.kernel_w;
        w.adaptive = height % rows != 0 || width % columns != 0;
        return pool<Kind, shape<C, Result.h, Result.w>>(x, w);
    }
};

template <size2 Result>
inline constexpr adaptive_pool2d_layer<op::avg_pool, Result> adaptive_avg_pool2d{};

// The first of equal pixels of a window gets the gradient.
template <size2 Result>
inline constexpr adaptive_pool2d_layer<op::max_pool, Result> adaptive_max_pool2d{};

} // namespace castnet
