// Pooling to a volume of a given size: adaptive_avg_pool3d and adaptive_max_pool3d.
#pragma once

#include <castnet/nn/adaptive_pooling.hpp>
#include <castnet/nn/pooling3d.hpp>

namespace castnet {

// (channels, depth, height, width) becomes (channels, Result.d, Result.h, Result.w), by windows as
// those of adaptive_pool2d_layer (PyTorch's AdaptiveAvgPool3d).
template <op Kind, size3 Result>
struct adaptive_pool3d_layer {
    static constexpr char const* name =
        Kind == op::max_pool ? "adaptive_max_pool3d" : "adaptive_avg_pool3d";
    static constexpr bool has_result = Result.d > 0 && Result.h > 0 && Result.w > 0;
    static_assert(has_result, "castnet: adaptive pooling: the result has no pixels");

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_volume(x, [](auto v) {
            if constexpr (has_result) {
                return pooled(v);
            } else {
                return v;
            }
        });
    }

private:
    template <Shape S>
    static constexpr auto pooled(symbol<S> x) {
        constexpr int channels = int(S::extent[0]), depth = int(S::extent[1]);
        constexpr int rows = int(Result.h), columns = int(Result.w);
        ir::window slice =
            detail::adaptive_window(channels, int(S::extent[2]), int(S::extent[3]), rows, columns);
        slice.images = depth;
        return detail::pool_volume<Kind, volume<S::extent[0], Result.d, Result.h, Result.w>>(
            x, slice,
            detail::adaptive_window(channels, depth, rows * columns, int(Result.d),
                                    rows * columns));
    }
};

template <size3 Result>
inline constexpr adaptive_pool3d_layer<op::avg_pool, Result> adaptive_avg_pool3d{};

// The first of equal elements of a window gets the gradient.
template <size3 Result>
inline constexpr adaptive_pool3d_layer<op::max_pool, Result> adaptive_max_pool3d{};

} // namespace castnet
