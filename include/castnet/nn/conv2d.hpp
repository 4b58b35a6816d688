// 2-D convolution, conv2d<Filters, Kernel, conv{…}>: cross-correlation over an image plus bias
// (Keras' and PyTorch's Conv2d). (channels, height, width) becomes (filters, height', width').
//
// Parameters: weight (filters, channels / groups, kernel height, kernel width), Glorot uniform;
// bias (filters), zeros.
#pragma once

#include <castnet/nn/weighted.hpp>
#include <castnet/nn/window.hpp>

namespace castnet {

struct conv {
    size2 stride = 1;
    padding2 padding = valid;
    size2 dilation = 1;
    size_t groups = 1; // channels and filters are split into this many independent parts
};

template <size_t Channels, size_t Filters, size_t Groups>
struct groups_divide {
    static_assert(Channels % Groups == 0 && Filters % Groups == 0,
                  "castnet: the channels and filters of a convolution must be multiples of its "
                  "groups; see groups_divide<channels, filters, groups>");
    static constexpr bool checked = true;
};

// Of layers whose groups are not chosen.
template <size_t Groups>
inline constexpr bool groups_left_out = Groups == 1;

template <size_t Filters, size2 Kernel, conv Options>
struct conv2d_layer : weighted<conv2d_layer<Filters, Kernel, Options>> {
    static constexpr char const* name = "conv2d";
    static_assert(Filters > 0, "castnet: conv2d needs at least one filter");
    static constexpr size_t filters = Filters > 0 ? Filters : 1; // one mistake is one error
    static constexpr bool slides =
        can_slide(Kernel, Options.stride, Options.dilation, Options.groups);
    static_assert(slides, "castnet: conv2d: kernel, stride, dilation and groups are at least 1");

    template <Shape S>
    using weight_shape = shape<filters, channels_of<S> / Options.groups, Kernel.h, Kernel.w>;

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(is_image<S>, "castnet: conv2d needs an image (channels, height, width); see "
                                   "is_image<input shape>");
        if constexpr (is_image<S> && slides) {
            return over_image(x);
        } else {
            return symbol<shape<filters, 1, 1>>{x.g, x.id};
        }
    }

private:
    template <size_t C, size_t H, size_t W>
    constexpr auto over_image(symbol<shape<C, H, W>> x) const {
        static_assert(!Options.padding.causal, "castnet: conv2d: causal padding is for sequences");
        static_assert(groups_divide<C, filters, Options.groups>::checked);
        constexpr ir::window w =
            make_window(int(C), int(H), int(W), int(filters), Kernel, Options.stride,
                        Options.padding, Options.dilation, Options.groups);
        constexpr bool fits = w.out_height > 0 && w.out_width > 0;
        static_assert(fits || kernel_within<kernel<Kernel.h, Kernel.w>, shape<C, H, W>>,
                      "castnet: conv2d: the kernel is larger than its input (channels, height, "
                      "width); see kernel_within<kernel<height, width>, input shape>");
        using result =
            shape<filters, fits ? size_t(w.out_height) : 1, fits ? size_t(w.out_width) : 1>;
        ir::graph& g = *x.g;
        scope_guard const scope{g, layer_kind{"conv2d"}};
        auto const weight = new_parameter<weight_shape<shape<C, H, W>>>(
            g, "weight", {role::conv_weight, this->weight_start, this->cost});
        auto y = convolve<result>(x, weight, w);
        if (this->has_bias) {
            y = y + along_channels(
                        new_parameter<shape<filters>>(g, "bias", {role::vector, this->bias_start}));
        }
        return y;
    }
};

template <size_t Filters, size2 Kernel, conv Options = conv{}>
inline constexpr conv2d_layer<Filters, Kernel, Options> conv2d{};

} // namespace castnet
