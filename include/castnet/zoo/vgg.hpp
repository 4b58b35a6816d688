// VGG-16 and VGG-19 for 224 x 224 colour images and 1000 classes (Simonyan & Zisserman 2015,
// configurations D and E); 138,357,544 and 143,667,240 parameters, named and shaped as in
// torchvision: "features.0.weight", …, "classifier.6.bias". vgg16_features and vgg19_features are
// without the classifier, and take images of any size: vgg16_features_of<input<3, 96, 96>>.
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

inline constexpr auto vgg16_features =
    block<conv3x3<64>, relu, conv3x3<64>, relu, max_pool2d<2>,                       //
          conv3x3<128>, relu, conv3x3<128>, relu, max_pool2d<2>,                     //
          conv3x3<256>, relu, conv3x3<256>, relu, conv3x3<256>, relu, max_pool2d<2>, //
          conv3x3<512>, relu, conv3x3<512>, relu, conv3x3<512>, relu, max_pool2d<2>, //
          conv3x3<512>, relu, conv3x3<512>, relu, conv3x3<512>, relu, max_pool2d<2>>;

inline constexpr auto vgg19_features =
    block<conv3x3<64>, relu, conv3x3<64>, relu, max_pool2d<2>,   //
          conv3x3<128>, relu, conv3x3<128>, relu, max_pool2d<2>, //
          conv3x3<256>, relu, conv3x3<256>, relu, conv3x3<256>, relu, conv3x3<256>, relu,
          max_pool2d<2>, //
          conv3x3<512>, relu, conv3x3<512>, relu, conv3x3<512>, relu, conv3x3<512>, relu,
          max_pool2d<2>, //
          conv3x3<512>, relu, conv3x3<512>, relu, conv3x3<512>, relu, conv3x3<512>, relu,
          max_pool2d<2>>;

template <auto Features>
struct vgg {
    constexpr auto operator()(Symbol auto image) const {
        constexpr auto classifier = block<dense<4096>, relu, dropout<0.5>, //
                                          dense<4096>, relu, dropout<0.5>, dense<1000>>;
        return image | named<"features", Features> | flatten | named<"classifier", classifier>;
    }
};

} // namespace detail

using vgg16 = network<detail::vgg<detail::vgg16_features>{}, input<3, 224, 224>>;
using vgg19 = network<detail::vgg<detail::vgg19_features>{}, input<3, 224, 224>>;

template <auto Input>
struct vgg16_features_of : sequential<Input, named<"features", detail::vgg16_features>> {};
template <auto Input>
struct vgg19_features_of : sequential<Input, named<"features", detail::vgg19_features>> {};
using vgg16_features = vgg16_features_of<input<3, 224, 224>>;
using vgg19_features = vgg19_features_of<input<3, 224, 224>>;

} // namespace castnet::zoo
