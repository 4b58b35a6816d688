// VGG-16 for 224 x 224 colour images and 1000 classes (Simonyan & Zisserman 2015, configuration D);
// 138,357,544 parameters, named and shaped as in torchvision: "features.0.weight", …,
// "classifier.6.bias".
#pragma once

#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/dropout.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/pooling.hpp>
#include <castnet/nn/reshape.hpp>

namespace castnet::zoo {

namespace detail {

template <size_t Filters>
inline constexpr auto conv3x3 = conv2d<Filters, 3, conv{.padding = 1}>.init(he_normal);

struct vgg16_layers {
    constexpr auto operator()(Symbol auto image) const {
        constexpr auto features =
            block<conv3x3<64>, relu, conv3x3<64>, relu, max_pool2d<2>,                       //
                  conv3x3<128>, relu, conv3x3<128>, relu, max_pool2d<2>,                     //
                  conv3x3<256>, relu, conv3x3<256>, relu, conv3x3<256>, relu, max_pool2d<2>, //
                  conv3x3<512>, relu, conv3x3<512>, relu, conv3x3<512>, relu, max_pool2d<2>, //
                  conv3x3<512>, relu, conv3x3<512>, relu, conv3x3<512>, relu, max_pool2d<2>>;
        constexpr auto classifier = block<dense<4096>, relu, dropout<0.5F>, //
                                          dense<4096>, relu, dropout<0.5F>, dense<1000>>;
        return image | named<"features", features> | flatten | named<"classifier", classifier>;
    }
};

} // namespace detail

using vgg16 = network<detail::vgg16_layers{}, input<3, 224, 224>>;

} // namespace castnet::zoo
