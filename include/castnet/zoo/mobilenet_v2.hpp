// MobileNetV2 (Sandler et al. 2018) for 224 x 224 colour images and 1000 classes; 3,504,872
// parameters, named and shaped as in torchvision: "features.0.0.weight", …, "classifier.1.bias".
#pragma once

#include <castnet/nn/dropout.hpp>
#include <castnet/zoo/detail/blocks.hpp>

namespace castnet::zoo {

namespace detail {

// 1 x 1 up to Factor times the channels, 3 x 3 of each of them, 1 x 1 down to Filters.
template <size_t Filters, size_t Stride, size_t Factor>
struct inverted_residual {
    constexpr auto operator()(Symbol auto x) const {
        constexpr size_t channels = channels_in<decltype(x)>;
        auto const y = x | named<"conv", layers<Factor * channels>()>;
        if constexpr (Stride == 1 && channels == Filters) {
            return x + y;
        } else {
            return y;
        }
    }

private:
    template <size_t Wide>
    static constexpr auto layers() {
        constexpr auto each = conv_norm<Wide, 3, Stride, Wide, relu6>;
        if constexpr (Factor == 1) {
            return block<each, conv_of<Filters, 1>, batch_norm>;
        } else {
            return block<conv_norm<Wide, 1, 1, 1, relu6>, each, conv_of<Filters, 1>, batch_norm>;
        }
    }
};

template <size_t Filters, size_t Stride = 1, size_t Factor = 6>
inline constexpr inverted_residual<Filters, Stride, Factor> inverted{};

// First and Last are the filters of the convolutions around the blocks.
template <size_t Classes, float Dropout, size_t First, size_t Last, auto... Blocks>
struct mobilenet {
    constexpr auto operator()(Symbol auto image) const {
        constexpr auto features =
            block<conv_norm<First, 3, 2, 1, relu6>, Blocks..., conv_norm<Last, 1, 1, 1, relu6>>;
        return image | named<"features", features> | global_avg_pool2d |
               named<"classifier", block<dropout<Dropout>, dense<Classes>>>;
    }
};

} // namespace detail

// For other images and classes: mobilenet_v2_of<input<3, 96, 96>, 20>.
template <auto Input, size_t Classes, float Dropout = 0.2F>
struct mobilenet_v2_of
    : network<detail::mobilenet<
                  Classes, Dropout, 32, 1280,                                             //
                  detail::inverted<16, 1, 1>,                                             //
                  detail::inverted<24, 2>, detail::inverted<24>,                          //
                  detail::inverted<32, 2>, detail::inverted<32>, detail::inverted<32>,    //
                  detail::inverted<64, 2>, detail::inverted<64>, detail::inverted<64>,    //
                  detail::inverted<64>,                                                   //
                  detail::inverted<96>, detail::inverted<96>, detail::inverted<96>,       //
                  detail::inverted<160, 2>, detail::inverted<160>, detail::inverted<160>, //
                  detail::inverted<320>>{},
              Input> {};

using mobilenet_v2 = mobilenet_v2_of<input<3, 224, 224>, 1000>;

} // namespace castnet::zoo
