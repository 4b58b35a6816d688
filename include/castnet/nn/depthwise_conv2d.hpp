// Depthwise and separable 2-D convolution: depthwise_conv2d<Kernel, conv{…}, Multiplier> and
// separable_conv2d<Filters, Kernel, conv{…}>, over images (channels, height, width).
#pragma once

#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/named.hpp>

namespace castnet {

// A convolution of every channel by itself, which makes Multiplier channels of it (Keras'
// DepthwiseConv2D; PyTorch's Conv2d with as many groups as channels).
//
// Parameters: weight (channels * Multiplier, 1, kernel height, kernel width), Glorot uniform; bias
// (channels * Multiplier), zeros.
template <size2 Kernel, conv Options, size_t Multiplier>
struct depthwise_conv2d_layer : weighted<depthwise_conv2d_layer<Kernel, Options, Multiplier>> {
    static constexpr char const* name = "depthwise_conv2d";
    static_assert(Multiplier > 0, "castnet: depthwise_conv2d needs at least one filter for each "
                                  "channel");
    static_assert(groups_left_out<Options.groups>,
                  "castnet: depthwise_conv2d and separable_conv2d have as many groups as channels: "
                  "leave conv::groups out; see groups_left_out<groups>");
    template <size_t Channels>
    using over_channels =
        conv2d_layer<Channels*(Multiplier > 0 ? Multiplier : 1), Kernel,
                     conv{Options.stride, Options.padding, Options.dilation, Channels}>;
    template <Shape S>
    using weight_shape = typename over_channels<channels_of<S>>::template weight_shape<S>;

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return over_channels<channels_of<S>>{
            {this->weight_start, this->bias_start, this->cost, this->has_bias}}(x);
    }
};

template <size2 Kernel, conv Options = conv{}, size_t Multiplier = 1>
inline constexpr depthwise_conv2d_layer<Kernel, Options, Multiplier> depthwise_conv2d{};

// A depthwise convolution without bias, then one of 1 x 1 pixels to Filters channels (Keras'
// SeparableConv2D). The options are those of the depthwise convolution; initialisers and penalties
// apply to both.
//
// Parameters: depthwise.weight (channels, 1, kernel height, kernel width) and pointwise.weight
// (filters, channels, 1, 1), Glorot uniform; pointwise.bias (filters), zeros.
template <size_t Filters, size2 Kernel, conv Options>
struct separable_conv2d_layer : weighted<separable_conv2d_layer<Filters, Kernel, Options>> {
    static constexpr char const* name = "separable_conv2d";

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        ir::graph& g = *x.g;
        scope_guard const scope{g, layer_kind{name}};
        auto const each = [&] {
            scope_guard const depthwise{g, "depthwise"};
            return depthwise_conv2d_layer<Kernel, Options, 1>{
                {this->weight_start, this->bias_start, this->cost, false}}(x);
        }();
        scope_guard const pointwise{g, "pointwise"};
        return conv2d_layer<Filters, 1, conv{}>{
            {this->weight_start, this->bias_start, this->cost, this->has_bias}}(each);
    }
};

template <size_t Filters, size2 Kernel, conv Options = conv{}>
inline constexpr separable_conv2d_layer<Filters, Kernel, Options> separable_conv2d{};

} // namespace castnet
