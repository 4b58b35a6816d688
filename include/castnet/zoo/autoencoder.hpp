// Convolutional autoencoder of grey images, 28 x 28 (Chollet, "Building autoencoders in Keras",
// 2016); 4,385 parameters, "encoder.0.weight", …, "decoder.9.bias". The code has 8 channels of
// 4 x 4 pixels. It returns logits, for binary_cross_entropy with pixels in [0, 1].
#pragma once

#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/pooling.hpp>

namespace castnet::zoo {

namespace detail {

struct autoencoder_layers {
    constexpr auto operator()(Symbol auto image) const {
        constexpr auto wide = conv2d<16, 3, conv{.padding = 1}>;
        constexpr auto narrow = conv2d<8, 3, conv{.padding = 1}>;
        constexpr auto pool = max_pool2d<2, pooling{.padding = same}>;
        constexpr auto encoder = block<wide, relu, pool, narrow, relu, pool, narrow, relu, pool>;
        constexpr auto decoder =
            block<narrow, relu, upsample2d<2>, narrow, relu, upsample2d<2>, //
                  conv2d<16, 3>, relu, upsample2d<2>, conv2d<1, 3, conv{.padding = 1}>>;
        return image | named<"encoder", encoder> | named<"decoder", decoder>;
    }
};

} // namespace detail

using autoencoder = network<detail::autoencoder_layers{}, input<1, 28, 28>>;

} // namespace castnet::zoo
