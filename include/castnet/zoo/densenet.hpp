// DenseNets (Huang et al. 2017) for 224 x 224 colour images and 1000 classes, with torchvision's
// parameters: "features.conv0.weight", "features.denseblock1.denselayer1.norm1.weight", …,
// "classifier.bias". densenet121 has 7,978,856 parameters, densenet169 14,149,480, densenet201
// 20,013,928.
#pragma once

#include <castnet/nn/reshape.hpp>
#include <castnet/zoo/detail/blocks.hpp>

namespace castnet::zoo {

namespace detail {

// Growth channels more: 1 x 1 to four times as many, 3 x 3.
template <size_t Growth>
struct dense_layer {
    constexpr auto operator()(Symbol auto x) const {
        return x | named<"norm1", batch_norm> | relu | named<"conv1", conv_of<4 * Growth, 1>> |
               named<"norm2", batch_norm> | relu | named<"conv2", conv_of<Growth, 3>>;
    }
};

// Each layer reads what all before it have made.
template <size_t Growth, size_t Layers>
struct dense_block {
    constexpr auto operator()(Symbol auto x) const { return with_layers<1>(x); }

private:
    template <size_t Number>
    static constexpr auto with_layers(Symbol auto x) {
        if constexpr (Number > Layers) {
            return x;
        } else {
            constexpr auto name = castnet::detail::numbered<"denselayer", Number>();
            return with_layers<Number + 1>(concat(x, x | named<name, dense_layer<Growth>{}>));
        }
    }
};

// Half the channels, half the height and width.
struct transition {
    constexpr auto operator()(Symbol auto x) const {
        return x | named<"norm", batch_norm> | relu |
               named<"conv", conv_of<channels_in<decltype(x)> / 2, 1>> | avg_pool2d<2>;
    }
};

template <size_t Growth, size_t First, size_t A, size_t B, size_t C, size_t D>
struct dense_features {
    constexpr auto operator()(Symbol auto image) const {
        return image | named<"conv0", conv_of<First, 7, 2>> | named<"norm0", batch_norm> | relu |
               max_pool2d<3, pooling{.stride = 2, .padding = 1}> |
               named<"denseblock1", dense_block<Growth, A>{}> | named<"transition1", transition{}> |
               named<"denseblock2", dense_block<Growth, B>{}> | named<"transition2", transition{}> |
               named<"denseblock3", dense_block<Growth, C>{}> | named<"transition3", transition{}> |
               named<"denseblock4", dense_block<Growth, D>{}> | named<"norm5", batch_norm> | relu;
    }
};

// Four blocks of so many layers.
template <size_t Classes, size_t Growth, size_t First, size_t A, size_t B, size_t C, size_t D>
struct densenet {
    constexpr auto operator()(Symbol auto image) const {
        return image | named<"features", dense_features<Growth, First, A, B, C, D>{}> |
               global_avg_pool2d | named<"classifier", dense<Classes>>;
    }
};

} // namespace detail

// For other images and classes: densenet121_of<input<3, 96, 96>, 20>.
template <auto Input, size_t Classes>
struct densenet121_of : network<detail::densenet<Classes, 32, 64, 6, 12, 24, 16>{}, Input> {};
template <auto Input, size_t Classes>
struct densenet169_of : network<detail::densenet<Classes, 32, 64, 6, 12, 32, 32>{}, Input> {};
template <auto Input, size_t Classes>
struct densenet201_of : network<detail::densenet<Classes, 32, 64, 6, 12, 48, 32>{}, Input> {};

using densenet121 = densenet121_of<input<3, 224, 224>, 1000>;
using densenet169 = densenet169_of<input<3, 224, 224>, 1000>;
using densenet201 = densenet201_of<input<3, 224, 224>, 1000>;

} // namespace castnet::zoo
