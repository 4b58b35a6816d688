// Pooling and up-sampling layers for volumes (channels, depth, height, width), channel by channel:
// of each slice, then along the depth.
#pragma once

#include <castnet/nn/pooling.hpp>
#include <castnet/nn/volume.hpp>

namespace castnet {

// As pooling's options (nn/pooling.hpp).
struct pooling3 {
    size3 stride = 0;
    padding3 padding = valid;
    bool count_padding = false;
};

namespace detail {

// By windows within each slice, and along the depth; those of single pixels are left out.
template <op Kind, Shape Result, Shape S>
constexpr symbol<Result> pool_volume(symbol<S> x, ir::window const& slice,
                                     ir::window const& depth) {
    using pooled_slices = volume<S::extent[0], S::extent[1], Result::extent[2], Result::extent[3]>;
    symbol<pooled_slices> slices{x.g, x.id};
    if (!is_identity(slice)) {
        slices = pool<Kind, pooled_slices>(x, slice);
    }
    symbol<Result> y{slices.g, slices.id};
    if (!is_identity(depth)) {
        y = pool<Kind, Result>(rows_of_slices(slices), depth);
    }
    return y;
}

} // namespace detail

template <op Kind, size3 Kernel, pooling3 Options>
struct pool3d_layer {
    static constexpr char const* name = Kind == op::max_pool ? "max_pool3d" : "avg_pool3d";
    static constexpr bool pools =
        detail::meets_pixels(Kernel.of_slice(), Options.padding.of_slice) &&
        Options.padding.slices < Kernel.d;
    static_assert(pools, "castnet: max_pool3d and avg_pool3d: the kernel is at least 1, and the "
                         "padding is smaller than it: otherwise some windows contain no pixel");

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_volume(x, [](auto v) {
            if constexpr (pools) {
                return pooled(v);
            } else {
                return v;
            }
        });
    }

private:
    static constexpr size3 stride = {Options.stride.d ? Options.stride.d : Kernel.d,
                                     Options.stride.h ? Options.stride.h : Kernel.h,
                                     Options.stride.w ? Options.stride.w : Kernel.w};
    static constexpr padding3 pad = Options.padding;

    // The windows within a slice, and along the depth.
    template <Shape S>
    static constexpr ir::window window_of_slice() {
        int const channels = int(S::extent[0]);
        ir::window w = make_window(channels, int(S::extent[2]), int(S::extent[3]), channels,
                                   Kernel.of_slice(), stride.of_slice(), pad.of_slice, 1, 1);
        w.images = int(S::extent[1]);
        w.count_padding = Options.count_padding;
        return w;
    }
    template <Shape S>
    static constexpr ir::window window_of_depth(int pixels) {
        auto const d = detail::along_depth(S::extent[1], Kernel.d, stride.d, pad, 1);
        int const channels = int(S::extent[0]);
        ir::window w{channels, int(S::extent[1]), pixels, channels, d.out, pixels};
        w.kernel_h = int(Kernel.d);
        w.stride_h = int(stride.d);
        w.pad_top = d.before;
        w.pad_bottom = d.after;
        w.count_padding = Options.count_padding;
        return w;
    }

    template <Shape S>
    static constexpr auto pooled(symbol<S> x) {
        static_assert(!pad.of_slice.causal, "castnet: max_pool3d and avg_pool3d: causal padding is "
                                            "for sequences");
        constexpr ir::window slice = window_of_slice<S>();
        constexpr int pixels = slice.out_height * slice.out_width;
        constexpr ir::window depth = window_of_depth<S>(pixels);
        constexpr bool fits = pixels > 0 && depth.out_height > 0;
        static_assert(fits || kernel_within<kernel<Kernel.d, Kernel.h, Kernel.w>, S>,
                      "castnet: max_pool3d and avg_pool3d: the kernel is larger than the input "
                      "(channels, depth, height, width); see kernel_within<kernel<depth, height, "
                      "width>, input shape>");
        using result =
            volume<S::extent[0], fits ? size_t(depth.out_height) : 1,
                   fits ? size_t(slice.out_height) : 1, fits ? size_t(slice.out_width) : 1>;
        return detail::pool_volume<Kind, result>(x, slice, depth);
    }
};

// The largest element of each window, ignoring padding. The first of equal ones gets the gradient.
// NaN is treated as by max_pool2d.
template <size3 Kernel, pooling3 Options = pooling3{}>
inline constexpr pool3d_layer<op::max_pool, Kernel, Options> max_pool3d{};

template <size3 Kernel, pooling3 Options = pooling3{}>
inline constexpr pool3d_layer<op::avg_pool, Kernel, Options> avg_pool3d{};

// (channels, depth, height, width) becomes (channels).
struct global_avg_pool3d_layer {
    static constexpr char const* name = "global_avg_pool3d";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_volume(x, [](auto v) { return mean_pixels(v); });
    }
};
inline constexpr global_avg_pool3d_layer global_avg_pool3d{};

struct global_max_pool3d_layer {
    static constexpr char const* name = "global_max_pool3d";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_volume(x, [](auto v) { return max_pixels(v); });
    }
};
inline constexpr global_max_pool3d_layer global_max_pool3d{};

// A grid Factor times as fine in each direction: all elements equal to the coarse one (nearest
// neighbour) or, with .trilinear(), interpolated between the eight nearest ones, as PyTorch does
// with align_corners=False.
template <size_t Factor, bool Trilinear>
struct upsample3d_layer {
    static constexpr char const* name = "upsample3d";
    static_assert(Factor > 0, "castnet: upsample3d: the factor is 0");

    constexpr upsample3d_layer<Factor, true> trilinear() const { return {}; }

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_volume(x, [](auto v) {
            if constexpr (Factor > 0) {
                return enlarged(v);
            } else {
                return v;
            }
        });
    }

private:
    template <Shape S>
    static constexpr auto enlarged(symbol<S> x) {
        constexpr size_t C = S::extent[0], D = S::extent[1], H = S::extent[2] * Factor,
                         W = S::extent[3] * Factor;
        constexpr int f = static_cast<int>(Factor);
        ir::window slice{int(C), int(H) / f, int(W) / f, int(C), int(H), int(W), f, f, f, f};
        slice.images = int(D);
        slice.bilinear = Trilinear;
        ir::window depth{int(C), int(D), int(H * W), int(C), int(D) * f, int(H * W), f, 1, f, 1};
        depth.bilinear = Trilinear;
        auto const slices = pool<op::upsample, volume<C, D, H, W>>(x, slice);
        return pool<op::upsample, volume<C, D * Factor, H, W>>(detail::rows_of_slices(slices),
                                                               depth);
    }
};
template <size_t Factor>
inline constexpr upsample3d_layer<Factor, false> upsample3d{};

} // namespace castnet
