// Xception (Chollet 2017) for 299 x 299 colour images and 1000 classes; 22,855,952 parameters,
// named and shaped as in timm's legacy_xception: "conv1.weight", "block1.rep.0.conv1.weight", …,
// "fc.bias". Batch normalisation has PyTorch's constants, as timm's files want it (Keras': 1e-3,
// and a momentum of 0.01 as it is counted here).
#pragma once

#include <castnet/nn/depthwise_conv2d.hpp>
#include <castnet/zoo/detail/blocks.hpp>

namespace castnet::zoo {

namespace detail {

// 3 x 3 of each channel, then 1 x 1.
template <size_t Filters>
struct separable {
    constexpr auto operator()(Symbol auto x) const {
        return x |
               named<"conv1", depthwise_conv2d<3, conv{.padding = 1}>.no_bias().init(he_normal)> |
               named<"pointwise", conv_of<Filters, 1>>;
    }
};

// Layers beside which the image goes on as it is or, where they change its channels or the stride
// is not 1, by a convolution of 1 x 1.
template <size_t Filters, size_t Stride, auto... Layers>
struct xception_block {
    constexpr auto operator()(Symbol auto x) const {
        auto const y = x | named<"rep", block<Layers...>>;
        if constexpr (channels_in<decltype(x)> == Filters && Stride == 1) {
            return y + x;
        } else {
            auto const skip =
                x | named<"skip", conv_of<Filters, 1, Stride>> | named<"skipbn", batch_norm>;
            return (y | max_pool2d<3, pooling{.stride = Stride, .padding = 1}>)+skip;
        }
    }
};

template <size_t A>
inline constexpr auto first_block =
    xception_block<A, 2, separable<A>{}, batch_norm, relu, separable<A>{}, batch_norm>{};
template <size_t A, size_t B = A>
inline constexpr auto smaller =
    xception_block<B, 2, relu, separable<A>{}, batch_norm, relu, separable<B>{}, batch_norm>{};
template <size_t A>
inline constexpr auto middle =
    xception_block<A, 1, relu, separable<A>{}, batch_norm, relu, separable<A>{}, batch_norm, relu,
                   separable<A>{}, batch_norm>{};

// Width, Middle and Wide are the channels of the first convolution, of the eight blocks in the
// middle and of the block after them.
template <size_t Classes, size_t Width, size_t Middle, size_t Wide>
struct xception_layers {
    constexpr auto operator()(Symbol auto image) const {
        constexpr auto whole = conv2d<Width, 3, conv{.stride = 2}>.no_bias().init(he_normal);
        constexpr auto next = conv2d<2 * Width, 3>.no_bias().init(he_normal);
        auto const entry = image | named<"conv1", whole> | named<"bn1", batch_norm> | relu |
                           named<"conv2", next> | named<"bn2", batch_norm> | relu |
                           named<"block1", first_block<4 * Width>> |
                           named<"block2", smaller<8 * Width>> | named<"block3", smaller<Middle>>;
        auto const y = entry | named<"block4", middle<Middle>> | named<"block5", middle<Middle>> |
                       named<"block6", middle<Middle>> | named<"block7", middle<Middle>> |
                       named<"block8", middle<Middle>> | named<"block9", middle<Middle>> |
                       named<"block10", middle<Middle>> | named<"block11", middle<Middle>>;
        return y | named<"block12", smaller<Middle, Wide>> |
               named<"conv3", separable<Wide * 3 / 2>{}> | named<"bn3", batch_norm> | relu |
               named<"conv4", separable<Wide * 2>{}> | named<"bn4", batch_norm> | relu |
               global_avg_pool2d | named<"fc", dense<Classes>>;
    }
};

} // namespace detail

// For other images and classes: xception_of<input<3, 96, 96>, 20>.
template <auto Input, size_t Classes>
struct xception_of : network<detail::xception_layers<Classes, 32, 728, 1024>{}, Input> {};

using xception = xception_of<input<3, 299, 299>, 1000>;

} // namespace castnet::zoo
