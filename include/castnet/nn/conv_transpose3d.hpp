// Transposed 3-D convolution, conv_transpose3d<Filters, Kernel, conv_transpose3{…}> (PyTorch's
// ConvTranspose3d, Keras' Conv3DTranspose): the gradient of conv3d by its volume, plus bias.
// (channels, depth, height, width) becomes (filters, depth', height', width'), of extents as
// conv_transpose2d has them.
//
// Parameters: weight (channels, filters / groups, kernel depth, kernel height, kernel width),
// Glorot uniform; bias (filters), zeros.
#pragma once

#include <castnet/nn/conv3d.hpp>
#include <castnet/nn/conv_transpose2d.hpp>

#include <algorithm>

namespace castnet {

struct conv_transpose3 {
    size3 stride = 1;
    padding3 padding = valid;
    size3 output_padding = 0; // more at the back, the bottom and the right, less than the stride
    size3 dilation = 1;
    size_t groups = 1; // channels and filters are split into this many independent parts
};

template <size_t Filters, size3 Kernel, conv_transpose3 Options>
struct conv_transpose3d_layer : weighted<conv_transpose3d_layer<Filters, Kernel, Options>> {
    static constexpr char const* name = "conv_transpose3d";
    static_assert(Filters > 0, "castnet: conv_transpose3d needs at least one filter");
    static constexpr size_t filters = Filters > 0 ? Filters : 1; // one mistake is one error
    static constexpr bool slides =
        detail::can_slide(Kernel, Options.stride, Options.dilation, Options.groups);
    static_assert(slides,
                  "castnet: conv_transpose3d: kernel, stride, dilation and groups are at least 1");

    static constexpr size_t filters_axis = 1; // of the weight
    template <Shape S>
    using weight_shape =
        shape<channels_of<S>, filters / Options.groups, Kernel.d, Kernel.h, Kernel.w>;

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return with_scaled_input(x, [](auto unscaled, auto) { return unscaled; });
    }
    // The layer of scaled(x, weight).
    template <Shape S, class Scaled>
    constexpr auto with_scaled_input(symbol<S> x, Scaled const& scaled) const {
        static_assert(is_volume<S>, "castnet: conv_transpose3d needs a volume (channels, depth, "
                                    "height, width); see is_volume<input shape>");
        if constexpr (is_volume<S> && slides) {
            return over(detail::as_volume(x), scaled);
        } else {
            return symbol<volume<filters, 1, 1, 1>>{x.g, x.id};
        }
    }

private:
    static constexpr size3 stride = Options.stride, more = Options.output_padding,
                           apart = Options.dilation;
    static constexpr padding3 pad = Options.padding;

    static constexpr size_t extent(size_t in, size_t kernel, size_t step, size_t padding,
                                   size_t output_padding, size_t dilation) {
        return transposed_extent(in, kernel, step, padding, output_padding, dilation,
                                 pad.of_slice.same);
    }

    template <Shape S, class Scaled>
    constexpr auto over(symbol<S> x, Scaled const& scaled) const {
        constexpr size_t C = S::extent[0];
        static_assert(!pad.of_slice.causal,
                      "castnet: conv_transpose3d: causal padding is for sequences");
        static_assert(groups_divide<C, filters, Options.groups>::checked);
        static_assert((more.d < stride.d && more.h < stride.h && more.w < stride.w) ||
                          output_padding_below_stride<kernel<more.d, more.h, more.w>,
                                                      kernel<stride.d, stride.h, stride.w>>,
                      "castnet: conv_transpose3d: output_padding must be less than the stride; see "
                      "output_padding_below_stride<output padding, stride>");
        constexpr size2 of_slice = pad.of_slice.pixels;
        constexpr size_t depth =
                             extent(S::extent[1], Kernel.d, stride.d, pad.slices, more.d, apart.d),
                         height =
                             extent(S::extent[2], Kernel.h, stride.h, of_slice.h, more.h, apart.h),
                         width =
                             extent(S::extent[3], Kernel.w, stride.w, of_slice.w, more.w, apart.w);
        static_assert((depth > 0 && height > 0 && width > 0) ||
                          padding_within<kernel<pad.slices, of_slice.h, of_slice.w>, S>,
                      "castnet: conv_transpose3d: the padding, which is cut off the result, leaves "
                      "nothing of it; see padding_within<padding, input shape>");
        using result = volume<filters, std::max(depth, size_t{1}), std::max(height, size_t{1}),
                              std::max(width, size_t{1})>;
        using slices =
            volume<filters * Kernel.d, S::extent[1], result::extent[2], result::extent[3]>;
        constexpr auto w = detail::make_conv3_windows(
            int(filters), int(result::extent[1]), int(result::extent[2]), int(result::extent[3]),
            int(C), Kernel, stride, pad, apart, Options.groups);
        constexpr bool keeps_slices = w.keeps_slices();
        ir::graph& g = *x.g;
        scope_guard const scope{g, layer_kind{name}};
        auto const weight = new_parameter<weight_shape<S>>(
            g, "weight", {role::conv_weight, this->weight_start, this->cost});
        auto y = [&] {
            auto const unfolded =
                convolve_transposed<slices>(scaled(x, weight), weight, w.over_slices);
            if constexpr (keeps_slices) {
                return unfolded;
            } else {
                return detail::fold<result>(unfolded, w.along_depth);
            }
        }();
        if (this->has_bias) {
            y = y + along_channels<result>(
                        new_parameter<shape<filters>>(g, "bias", {role::vector, this->bias_start}));
        }
        return y;
    }
};

template <size_t Filters, size3 Kernel, conv_transpose3 Options = conv_transpose3{}>
inline constexpr conv_transpose3d_layer<Filters, Kernel, Options> conv_transpose3d{};

} // namespace castnet
