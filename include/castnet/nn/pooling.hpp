// Pooling and up-sampling layers for images, channel by channel.
#pragma once

#include <castnet/graph/op/pool.hpp>
#include <castnet/graph/op/reduce.hpp>
#include <castnet/nn/scope.hpp>
#include <castnet/nn/window.hpp>

namespace castnet {

// A stride of 0 is the size of the kernel. count_padding: the average divides by the whole window
// (PyTorch's count_include_pad) and not by the number of the image's pixels in it (Keras).
struct pooling {
    size2 stride = 0;
    padding2 padding = valid;
    bool count_padding = false;
};

namespace detail {

// Whether every window of this size has pixels that are no padding.
constexpr bool meets_pixels(size2 kernel, padding2 padding) {
    return kernel.h > padding.pixels.h && kernel.w > padding.pixels.w;
}

template <Shape S, class F>
constexpr auto over_image(symbol<S> x, F layer) {
    static_assert(is_image<S>, "castnet: pooling and up-sampling need an image (channels, height, "
                               "width); see is_image<input shape>");
    if constexpr (is_image<S>) {
        return layer(x);
    } else {
        return x;
    }
}

} // namespace detail

template <op Kind, size2 Kernel, pooling Options>
struct pool2d_layer {
    static constexpr char const* name = Kind == op::max_pool ? "max_pool2d" : "avg_pool2d";
    static constexpr bool pools = detail::meets_pixels(Kernel, Options.padding);
    static_assert(pools, "castnet: pooling: the kernel is at least 1, and the padding is smaller "
                         "than it: otherwise some windows contain no pixel");

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_image(x, [](auto image) {
            if constexpr (pools) {
                return pooled(image);
            } else {
                return image;
            }
        });
    }

private:
    template <size_t C, size_t H, size_t W>
    static constexpr auto pooled(symbol<shape<C, H, W>> x) {
        static_assert(!Options.padding.causal, "castnet: pooling: causal padding is for sequences");
        constexpr size2 stride = {Options.stride.h ? Options.stride.h : Kernel.h,
                                  Options.stride.w ? Options.stride.w : Kernel.w};
        constexpr ir::window w =
            make_window(int(C), int(H), int(W), int(C), Kernel, stride, Options.padding, 1, 1);
        constexpr bool fits = w.out_height > 0 && w.out_width > 0;
        static_assert(fits || kernel_within<kernel<Kernel.h, Kernel.w>, shape<C, H, W>>,
                      "castnet: pooling: the kernel is larger than its input (channels, height, "
                      "width); see kernel_within<kernel<height, width>, input shape>");
        using result = shape<C, fits ? size_t(w.out_height) : 1, fits ? size_t(w.out_width) : 1>;
        ir::window counted = w;
        counted.count_padding = Options.count_padding;
        return pool<Kind, result>(x, counted);
    }
};

// The largest pixel of each window, ignoring padding. The first of equal ones gets the gradient.
// NaN makes a result NaN where it is the first pixel of a window, and is passed over elsewhere
// (PyTorch: everywhere; as here global_max_pool2d), since looking for it takes a tenth longer.
template <size2 Kernel, pooling Options = pooling{}>
inline constexpr pool2d_layer<op::max_pool, Kernel, Options> max_pool2d{};

template <size2 Kernel, pooling Options = pooling{}>
inline constexpr pool2d_layer<op::avg_pool, Kernel, Options> avg_pool2d{};

// (channels, height, width) becomes (channels).
struct global_avg_pool2d_layer {
    static constexpr char const* name = "global_avg_pool2d";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_image(x, [](auto image) { return mean_pixels(image); });
    }
};
inline constexpr global_avg_pool2d_layer global_avg_pool2d{};

struct global_max_pool2d_layer {
    static constexpr char const* name = "global_max_pool2d";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_image(x, [](auto image) { return max_pixels(image); });
    }
};
inline constexpr global_max_pool2d_layer global_max_pool2d{};

// A finer grid of Factor x Factor pixels for each: all equal to it (nearest neighbour) or, with
// .bilinear(), interpolated between the four nearest ones, as PyTorch does with align_corners=False
// and Keras.
template <size_t Factor, bool Bilinear>
struct upsample2d_layer {
    static constexpr char const* name = "upsample2d";
    static_assert(Factor > 0, "castnet: upsample2d: the factor is 0");

    constexpr upsample2d_layer<Factor, true> bilinear() const { return {}; }

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_image(x, [](auto image) {
            if constexpr (Factor > 0) {
                return enlarged(image);
            } else {
                return image;
            }
        });
    }

private:
    template <size_t C, size_t H, size_t W>
    static constexpr auto enlarged(symbol<shape<C, H, W>> x) {
        constexpr int f = static_cast<int>(Factor);
        ir::window w{int(C), int(H), int(W), int(C), int(H) * f, int(W) * f, f, f, f, f};
        w.bilinear = Bilinear;
        return pool<op::upsample, shape<C, H * Factor, W * Factor>>(x, w);
    }
};
template <size_t Factor>
inline constexpr upsample2d_layer<Factor, false> upsample2d{};

} // namespace castnet
