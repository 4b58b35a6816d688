// Transposed 2-D convolution, conv_transpose2d<Filters, Kernel, conv_transpose{…}> (PyTorch's
// ConvTranspose2d, Keras' Conv2DTranspose): the gradient of conv2d by its image, plus bias.
// (channels, height, width) becomes (filters, height', width') with
//     height' = (height - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1,
// or, with padding same, height * stride.
//
// Parameters: weight (channels, filters / groups, kernel height, kernel width), Glorot uniform;
// bias (filters), zeros.
#pragma once

#include <castnet/nn/conv2d.hpp>

#include <algorithm>

namespace castnet {

struct conv_transpose {
    size2 stride = 1;
    padding2 padding = valid;
    size2 output_padding = 0; // rows and columns more at the bottom and right, less than the stride
    size2 dilation = 1;
    size_t groups = 1; // channels and filters are split into this many independent parts
};

template <class OutputPadding, class Stride>
inline constexpr bool output_padding_below_stride = false;
template <class Padding, class Input>
inline constexpr bool padding_within = false;

// The height, width or time of the result; 0 if the padding takes all of it.
constexpr size_t transposed_extent(size_t in, size_t kernel, size_t stride, size_t padding,
                                   size_t output_padding, size_t dilation, bool covers_all) {
    if (covers_all) {
        return in * stride;
    }
    size_t const whole = (in - 1) * stride + (kernel - 1) * dilation + 1 + output_padding;
    return whole > 2 * padding ? whole - 2 * padding : 0;
}

template <size_t Filters, size2 Kernel, conv_transpose Options>
struct conv_transpose2d_layer : weighted<conv_transpose2d_layer<Filters, Kernel, Options>> {
    static constexpr char const* name = "conv_transpose2d";
    static_assert(Filters > 0, "castnet: conv_transpose2d needs at least one filter");
    static constexpr size_t filters = Filters > 0 ? Filters : 1; // one mistake is one error
    static constexpr bool slides =
        can_slide(Kernel, Options.stride, Options.dilation, Options.groups);
    static_assert(slides,
                  "castnet: conv_transpose2d: kernel, stride, dilation and groups are at least 1");

    static constexpr size_t filters_axis = 1; // of the weight
    template <Shape S>
    using weight_shape = shape<channels_of<S>, filters / Options.groups, Kernel.h, Kernel.w>;

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return with_scaled_input(x, [](auto unscaled, auto) { return unscaled; });
    }
    // The layer of scaled(x, weight).
    template <Shape S, class Scaled>
    constexpr auto with_scaled_input(symbol<S> x, Scaled const& scaled) const {
        static_assert(is_image<S>, "castnet: conv_transpose2d needs an image (channels, height, "
                                   "width); see is_image<input shape>");
        if constexpr (is_image<S> && slides) {
            return over_image(x, scaled);
        } else {
            return symbol<shape<filters, 1, 1>>{x.g, x.id};
        }
    }

private:
    static constexpr size2 stride = Options.stride, more = Options.output_padding;

    template <size_t C, size_t H, size_t W, class Scaled>
    constexpr auto over_image(symbol<shape<C, H, W>> x, Scaled const& scaled) const {
        static_assert(!Options.padding.causal,
                      "castnet: conv_transpose2d: causal padding is for sequences");
        static_assert(groups_divide<C, filters, Options.groups>::checked);
        static_assert(
            (more.h < stride.h && more.w < stride.w) ||
                output_padding_below_stride<kernel<more.h, more.w>, kernel<stride.h, stride.w>>,
            "castnet: conv_transpose2d: output_padding must be less than the stride; see "
            "output_padding_below_stride<output padding, stride>");
        constexpr size2 pad = Options.padding.pixels;
        constexpr size_t height = transposed_extent(H, Kernel.h, stride.h, pad.h, more.h,
                                                    Options.dilation.h, Options.padding.same);
        constexpr size_t width = transposed_extent(W, Kernel.w, stride.w, pad.w, more.w,
                                                   Options.dilation.w, Options.padding.same);
        static_assert((height > 0 && width > 0) ||
                          padding_within<kernel<pad.h, pad.w>, shape<C, H, W>>,
                      "castnet: conv_transpose2d: the padding, which is cut off the result, leaves "
                      "nothing of it; see padding_within<padding, input shape>");
        using result = shape<filters, std::max(height, size_t{1}), std::max(width, size_t{1})>;
        constexpr ir::window w =
            make_window(int(filters), int(result::extent[1]), int(result::extent[2]), int(C),
                        Kernel, stride, Options.padding, Options.dilation, Options.groups);
        ir::graph& g = *x.g;
        scope_guard const scope{g, layer_kind{name}};
        auto const weight = new_parameter<weight_shape<shape<C, H, W>>>(
            g, "weight", {role::conv_weight, this->weight_start, this->cost});
        auto y = convolve_transposed<result>(scaled(x, weight), weight, w);
        if (this->has_bias) {
            y = y + along_channels(
                        new_parameter<shape<filters>>(g, "bias", {role::vector, this->bias_start}));
        }
        return y;
    }
};

template <size_t Filters, size2 Kernel, conv_transpose Options = conv_transpose{}>
inline constexpr conv_transpose2d_layer<Filters, Kernel, Options> conv_transpose2d{};

} // namespace castnet
