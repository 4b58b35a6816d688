// U-Net (Ronneberger et al. 2015) as most train it today: padded convolutions with batch
// normalisation, and transposed convolutions on the way up. The classes of each pixel, as logits;
// height and width are multiples of 16. 31,037,633 parameters for colour images and one class,
// named and shaped as those of github.com/milesial/Pytorch-UNet with bilinear=False:
// "inc.double_conv.0.weight", …, "outc.conv.bias".
#pragma once

#include <castnet/nn/conv_transpose2d.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/zoo/detail/blocks.hpp>

namespace castnet::zoo {

namespace detail {

template <size_t Filters>
inline constexpr auto double_conv =
    named<"double_conv", block<conv_of<Filters, 3>, batch_norm, relu, //
                               conv_of<Filters, 3>, batch_norm, relu>>;

template <size_t Filters>
inline constexpr auto down =
    named<"maxpool_conv", block<max_pool2d<2>, block<double_conv<Filters>>>>;

// The finer image of the way down, then the coarser one enlarged.
template <size_t Filters>
struct up {
    constexpr auto operator()(Symbol auto coarse, Symbol auto fine) const {
        constexpr auto twice = conv_transpose2d<Filters, 2, conv_transpose{.stride = 2}>;
        auto const enlarged = coarse | named<"up", twice>;
        return concat(fine, enlarged) | named<"conv", block<double_conv<Filters>>>;
    }
};

template <size_t Classes, size_t Width>
struct unet_layers {
    constexpr auto operator()(Symbol auto image) const {
        auto const x1 = image | named<"inc", block<double_conv<Width>>>;
        auto const x2 = x1 | named<"down1", down<2 * Width>>;
        auto const x3 = x2 | named<"down2", down<4 * Width>>;
        auto const x4 = x3 | named<"down3", down<8 * Width>>;
        auto const x5 = x4 | named<"down4", down<16 * Width>>;
        auto const y4 = named<"up1", up<8 * Width>{}>(x5, x4);
        auto const y3 = named<"up2", up<4 * Width>{}>(y4, x3);
        auto const y2 = named<"up3", up<2 * Width>{}>(y3, x2);
        auto const y1 = named<"up4", up<Width>{}>(y2, x1);
        return y1 | named<"outc", named<"conv", conv2d<Classes, 1>>>;
    }
};

} // namespace detail

// Width: channels of the finest image.
template <auto Input, size_t Classes, size_t Width = 64>
struct unet : network<detail::unet_layers<Classes, Width>{}, Input> {};

} // namespace castnet::zoo
