// 3-D convolution, conv3d<Filters, Kernel, conv3{…}>: cross-correlation over a volume plus bias
// (Keras' and PyTorch's Conv3d). (channels, depth, height, width) becomes (filters, depth',
// height', width'). It is computed as one over the slices, whose channels are those of all slices
// under the kernel; or where this is one column, over an image whose rows are the slices.
//
// Parameters: weight (filters, channels / groups, kernel depth, kernel height, kernel width),
// Glorot uniform; bias (filters), zeros.
#pragma once

#include <castnet/graph/op/unfold.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/volume.hpp>

#include <algorithm>

namespace castnet {

struct conv3 {
    size3 stride = 1;
    padding3 padding = valid;
    size3 dilation = 1;
    size_t groups = 1; // channels and filters are split into this many independent parts
};

namespace detail {

// The two windows of a convolution over a volume: along the depth, whose places become channels,
// and over the slices of the result.
struct conv3_windows {
    ir::window along_depth, over_slices;

    constexpr int out_depth() const { return along_depth.out_height; }
    constexpr bool fits() const {
        return out_depth() > 0 && over_slices.out_height > 0 && over_slices.out_width > 0;
    }
    // Whether the slices are those of the input.
    constexpr bool keeps_slices() const { return is_identity(along_depth); }
    // Whether each result meets one column of the volume.
    constexpr bool keeps_columns() const { return is_identity(over_slices); }

    // Of such a convolution, over an image whose rows are the slices.
    constexpr ir::window over_columns() const {
        ir::window w = along_depth;
        w.filters = over_slices.filters;
        return w;
    }
};

constexpr conv3_windows make_conv3_windows(int channels, int depth, int height, int width,
                                           int filters, size3 kernel, size3 stride,
                                           padding3 padding, size3 dilation, size_t groups) {
    auto const kernel_depth = static_cast<int>(kernel.d);
    axis_window const d =
        along_depth(static_cast<size_t>(depth), kernel.d, stride.d, padding, dilation.d);
    ir::window along;
    along.channels = channels;
    along.filters = channels * kernel_depth;
    along.height = depth;
    along.out_height = d.out;
    along.width = along.out_width = height * width;
    along.kernel_h = kernel_depth;
    along.stride_h = static_cast<int>(stride.d);
    along.pad_top = d.before;
    along.pad_bottom = d.after;
    along.dilation_h = static_cast<int>(dilation.d);
    along.groups = static_cast<int>(groups);
    ir::window over = make_window(along.filters, height, width, filters, kernel.of_slice(),
                                  stride.of_slice(), padding.of_slice, dilation.of_slice(), groups);
    over.images = std::max(d.out, 1);
    return {along, over};
}

constexpr bool can_slide(size3 kernel, size3 stride, size3 dilation, size_t groups) {
    return kernel.d > 0 && stride.d > 0 && dilation.d > 0 &&
           castnet::can_slide(kernel.of_slice(), stride.of_slice(), dilation.of_slice(), groups);
}

} // namespace detail

template <size_t Filters, size3 Kernel, conv3 Options>
struct conv3d_layer : weighted<conv3d_layer<Filters, Kernel, Options>> {
    static constexpr char const* name = "conv3d";
    static_assert(Filters > 0, "castnet: conv3d needs at least one filter");
    static constexpr size_t filters = Filters > 0 ? Filters : 1; // one mistake is one error
    static constexpr bool slides =
        detail::can_slide(Kernel, Options.stride, Options.dilation, Options.groups);
    static_assert(slides, "castnet: conv3d: kernel, stride, dilation and groups are at least 1");

    template <Shape S>
    using weight_shape =
        shape<filters, channels_of<S> / Options.groups, Kernel.d, Kernel.h, Kernel.w>;

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(is_volume<S>, "castnet: conv3d needs a volume (channels, depth, height, "
                                    "width); see is_volume<input shape>");
        if constexpr (is_volume<S> && slides) {
            return over(detail::as_volume(x));
        } else {
            return symbol<volume<filters, 1, 1, 1>>{x.g, x.id};
        }
    }

private:
    template <Shape S>
    constexpr auto over(symbol<S> x) const {
        constexpr size_t C = S::extent[0], D = S::extent[1], H = S::extent[2], W = S::extent[3];
        static_assert(!Options.padding.of_slice.causal,
                      "castnet: conv3d: causal padding is for sequences");
        static_assert(groups_divide<C, filters, Options.groups>::checked);
        constexpr auto w = detail::make_conv3_windows(int(C), int(D), int(H), int(W), int(filters),
                                                      Kernel, Options.stride, Options.padding,
                                                      Options.dilation, Options.groups);
        static_assert(w.fits() || kernel_within<kernel<Kernel.d, Kernel.h, Kernel.w>, S>,
                      "castnet: conv3d: the kernel is larger than its input (channels, depth, "
                      "height, width); see kernel_within<kernel<depth, height, width>, input "
                      "shape>");
        constexpr size_t depth = w.fits() ? size_t(w.out_depth()) : 1;
        using result = volume<filters, depth, w.fits() ? size_t(w.over_slices.out_height) : 1,
                              w.fits() ? size_t(w.over_slices.out_width) : 1>;
        constexpr bool keeps_slices = w.keeps_slices(), keeps_columns = w.keeps_columns();
        ir::graph& g = *x.g;
        scope_guard const scope{g, layer_kind{name}};
        auto const weight = new_parameter<weight_shape<S>>(
            g, "weight", {role::conv_weight, this->weight_start, this->cost});
        auto y = [&] {
            if constexpr (keeps_slices) {
                return convolve<result>(x, weight, w.over_slices);
            } else if constexpr (keeps_columns) {
                return convolve<result>(detail::rows_of_slices(x), weight, w.over_columns());
            } else {
                auto const slices =
                    detail::unfold<volume<C * Kernel.d, depth, H, W>>(x, w.along_depth);
                return convolve<result>(slices, weight, w.over_slices);
            }
        }();
        if (this->has_bias) {
            y = y + along_channels<result>(
                        new_parameter<shape<filters>>(g, "bias", {role::vector, this->bias_start}));
        }
        return y;
    }
};

template <size_t Filters, size3 Kernel, conv3 Options = conv3{}>
inline constexpr conv3d_layer<Filters, Kernel, Options> conv3d{};

} // namespace castnet
