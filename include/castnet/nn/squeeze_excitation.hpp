// Squeeze and excitation, squeeze_excitation<Squeezed>: the weight of every channel, computed from
// the means of all channels (Hu et al. 2018; torchvision's SqueezeExcitation).
#pragma once

#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/conv3d.hpp>
#include <castnet/nn/named.hpp>
#include <castnet/nn/pooling.hpp>
#include <castnet/nn/pooling3d.hpp>
#include <castnet/nn/reshape.hpp>

namespace castnet {

// x * scale(fc2(activation(fc1(mean of the pixels of x)))) of images (channels, height, width) and
// volumes, where fc1 and fc2 are convolutions of one pixel, to Squeezed channels and back. Channels
// and functions are given as torchvision's squeeze_channels, activation and scale_activation.
//
// Parameters: fc1.weight (Squeezed, channels, 1, 1), fc1.bias (Squeezed), fc2.weight (channels,
// Squeezed, 1, 1), fc2.bias (channels); of volumes, weights have a third axis of one.
template <size_t Squeezed, auto Activation, auto Scale>
struct squeeze_excitation_layer {
    static constexpr char const* name = "squeeze_excitation";

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(is_image<S> || is_volume<S>,
                      "castnet: squeeze_excitation needs an image (channels, height, width) or a "
                      "volume; see is_image<input shape>");
        if constexpr (is_image<S>) {
            constexpr size_t channels = S::extent[0];
            scope_guard const scope{*x.g, layer_kind{name}};
            return x * (x | global_avg_pool2d | reshape_to<shape<channels, 1, 1>> |
                        named<"fc1", conv2d<Squeezed, 1>> | Activation |
                        named<"fc2", conv2d<channels, 1>> | Scale);
        } else if constexpr (is_volume<S>) {
            constexpr size_t channels = S::extent[0];
            scope_guard const scope{*x.g, layer_kind{name}};
            auto const v = detail::as_volume(x);
            return v * (v | global_avg_pool3d | reshape_to<volume<channels, 1, 1, 1>> |
                        named<"fc1", conv3d<Squeezed, 1>> | Activation |
                        named<"fc2", conv3d<channels, 1>> | Scale);
        } else {
            return x;
        }
    }
};

template <size_t Squeezed, auto Activation = relu, auto Scale = sigmoid>
inline constexpr squeeze_excitation_layer<Squeezed, Activation, Scale> squeeze_excitation{};

} // namespace castnet
