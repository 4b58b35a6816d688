// MLP-Mixers (Tolstikhin et al. 2021) for 224 x 224 colour images and 1000 classes, with timm's
// parameters: "stem.proj.weight", "blocks.0.norm1.weight", "blocks.0.mlp_tokens.fc1.weight", …,
// "head.bias". mixer_s16 has 18,528,264 parameters, mixer_b16 59,880,472.
#pragma once

#include <castnet/nn/layer_norm.hpp>
#include <castnet/nn/permute.hpp>
#include <castnet/nn/pooling1d.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/zoo/detail/blocks.hpp>

namespace castnet::zoo {

namespace detail {

inline constexpr auto mixer_norm = layer_norm.with_epsilon(1e-6);

// Two dense layers, the second of which has as many units as the input features.
template <size_t Units>
struct mlp {
    constexpr auto operator()(Symbol auto x) const {
        return x | named<"fc1", dense<Units>> | gelu |
               named<"fc2", dense<channels_in<decltype(x)>>>;
    }
};

// Of patches (patches, features): first across the patches, then across the features.
template <size_t Tokens, size_t Channels>
struct mixer_block {
    constexpr auto operator()(Symbol auto x) const {
        auto const mixed = x | named<"norm1", mixer_norm> | permute<1, 0> |
                           named<"mlp_tokens", mlp<Tokens>{}> | permute<1, 0>;
        auto const y = x + mixed;
        return y + (y | named<"norm2", mixer_norm> | named<"mlp_channels", mlp<Channels>{}>);
    }
};

template <size_t Classes, size_t Patch, size_t Features, size_t Tokens, size_t Channels,
          size_t Blocks>
struct mixer {
    constexpr auto operator()(Symbol auto image) const {
        constexpr auto patches = conv2d<Features, Patch, conv{.stride = Patch}>;
        auto const grid = image | named<"stem", named<"proj", patches>>;
        constexpr size_t count = pixels_of<typename decltype(grid)::shape_type>;
        return grid | reshape_to<shape<Features, count>> | permute<1, 0> |
               named<"blocks", repeat<Blocks, mixer_block<Tokens, Channels>{}>> |
               named<"norm", mixer_norm> | global_avg_pool1d | named<"head", dense<Classes>>;
    }
};

} // namespace detail

// For other classes and images, of whole patches of 16 x 16: mixer_s16_of<input<3, 96, 96>, 20>.
template <auto Input, size_t Classes>
struct mixer_s16_of : network<detail::mixer<Classes, 16, 512, 256, 2048, 8>{}, Input> {};
template <auto Input, size_t Classes>
struct mixer_b16_of : network<detail::mixer<Classes, 16, 768, 384, 3072, 12>{}, Input> {};

using mixer_s16 = mixer_s16_of<input<3, 224, 224>, 1000>;
using mixer_b16 = mixer_b16_of<input<3, 224, 224>, 1000>;

} // namespace castnet::zoo
