// ResNets (He et al. 2016) with torchvision's parameters, "conv1.weight", "layer1.0.bn1.weight", …,
// "fc.bias", and, in the bottlenecks, its stride in the 3 x 3 convolution.
//
//   resnet18, resnet34               11,689,512 and 21,797,672 parameters
//   resnet50, resnet101, resnet152   25,557,032, 44,549,160 and 60,192,808
//   resnet18_cifar                   11,173,962, for 32 x 32 pixels and 10 classes: a first
//                                    convolution of 3 x 3 with stride 1, and no pooling after it
#pragma once

#include <castnet/zoo/detail/blocks.hpp>

namespace castnet::zoo {

namespace detail {

template <size_t Filters, size_t Stride>
constexpr auto shortcut(Symbol auto x) {
    if constexpr (channels_in<decltype(x)> == Filters && Stride == 1) {
        return x;
    } else {
        return x | named<"downsample", conv_norm<Filters, 1, Stride>>;
    }
}

// Two convolutions of 3 x 3.
template <size_t Width, size_t Stride>
struct basic_block {
    constexpr auto operator()(Symbol auto x) const {
        auto const y = x | named<"conv1", conv_of<Width, 3, Stride>> | named<"bn1", batch_norm> |
                       relu | named<"conv2", conv_of<Width, 3>> | named<"bn2", batch_norm>;
        return relu(y + shortcut<Width, Stride>(x));
    }
};

// 1 x 1 down to Width, 3 x 3, 1 x 1 up to 4 * Width.
template <size_t Width, size_t Stride>
struct bottleneck {
    constexpr auto operator()(Symbol auto x) const {
        auto const y = x | named<"conv1", conv_of<Width, 1>> | named<"bn1", batch_norm> | relu |
                       named<"conv2", conv_of<Width, 3, Stride>> | named<"bn2", batch_norm> | relu |
                       named<"conv3", conv_of<4 * Width, 1>> | named<"bn3", batch_norm>;
        return relu(y + shortcut<4 * Width, Stride>(x));
    }
};

// Four stages of so many blocks.
template <template <size_t, size_t> class Block, size_t A, size_t B, size_t C, size_t D,
          size_t Width, size_t Classes, bool Small>
struct resnet {
    template <size_t W, size_t Stride, size_t Count>
    static constexpr auto stage = repeat<Count, Block<W, Stride>{}, Block<W, 1>{}>;

    static constexpr auto stem(Symbol auto image) {
        if constexpr (Small) {
            return image | named<"conv1", conv_of<Width, 3>> | named<"bn1", batch_norm> | relu;
        } else {
            return image | named<"conv1", conv_of<Width, 7, 2>> | named<"bn1", batch_norm> | relu |
                   max_pool2d<3, pooling{.stride = 2, .padding = 1}>;
        }
    }
    constexpr auto operator()(Symbol auto image) const {
        return stem(image) | named<"layer1", stage<Width, 1, A>> |
               named<"layer2", stage<2 * Width, 2, B>> | named<"layer3", stage<4 * Width, 2, C>> |
               named<"layer4", stage<8 * Width, 2, D>> | global_avg_pool2d |
               named<"fc", dense<Classes>>;
    }
};

} // namespace detail

// ResNets for other images and classes: resnet18_of<input<3, 96, 96>, 20>.
template <auto Input, size_t Classes>
struct resnet18_of
    : network<detail::resnet<detail::basic_block, 2, 2, 2, 2, 64, Classes, false>{}, Input> {};
template <auto Input, size_t Classes>
struct resnet34_of
    : network<detail::resnet<detail::basic_block, 3, 4, 6, 3, 64, Classes, false>{}, Input> {};
template <auto Input, size_t Classes>
struct resnet50_of
    : network<detail::resnet<detail::bottleneck, 3, 4, 6, 3, 64, Classes, false>{}, Input> {};
template <auto Input, size_t Classes>
struct resnet101_of
    : network<detail::resnet<detail::bottleneck, 3, 4, 23, 3, 64, Classes, false>{}, Input> {};
template <auto Input, size_t Classes>
struct resnet152_of
    : network<detail::resnet<detail::bottleneck, 3, 8, 36, 3, 64, Classes, false>{}, Input> {};

using resnet18 = resnet18_of<input<3, 224, 224>, 1000>;
using resnet34 = resnet34_of<input<3, 224, 224>, 1000>;
using resnet50 = resnet50_of<input<3, 224, 224>, 1000>;
using resnet101 = resnet101_of<input<3, 224, 224>, 1000>;
using resnet152 = resnet152_of<input<3, 224, 224>, 1000>;

using resnet18_cifar =
    network<detail::resnet<detail::basic_block, 2, 2, 2, 2, 64, 10, true>{}, input<3, 32, 32>>;

} // namespace castnet::zoo
