// EfficientNet-B0 (Tan & Le 2019) for 224 x 224 colour images and 1000 classes; 5,288,548
// parameters, named and shaped as in torchvision: "features.0.0.weight", …, "classifier.1.bias".
#pragma once

#include <castnet/nn/dropout.hpp>
#include <castnet/nn/squeeze_excitation.hpp>
#include <castnet/nn/stochastic_depth.hpp>
#include <castnet/zoo/detail/blocks.hpp>

namespace castnet::zoo {

namespace detail {

// 1 x 1 up to Factor times the channels, a kernel for each of them, squeeze and excitation, 1 x 1
// down to Filters (MBConv).
template <size_t Filters, size_t Kernel, size_t Stride, size_t Factor, float Depth>
struct mobile_conv {
    constexpr auto operator()(Symbol auto x) const {
        constexpr size_t channels = channels_in<decltype(x)>;
        auto const y = x | named<"block", layers<channels>()>;
        if constexpr (Stride == 1 && channels == Filters) {
            return x + (y | stochastic_depth<Depth>);
        } else {
            return y;
        }
    }

private:
    template <size_t Channels>
    static constexpr auto layers() {
        constexpr size_t wide = Factor * Channels, squeezed = Channels < 4 ? 1 : Channels / 4;
        constexpr auto each = conv_norm<wide, Kernel, Stride, wide, silu>;
        constexpr auto weighted = squeeze_excitation<squeezed, silu>;
        if constexpr (Factor == 1) {
            return block<each, weighted, conv_norm<Filters, 1>>;
        } else {
            return block<conv_norm<wide, 1, 1, 1, silu>, each, weighted, conv_norm<Filters, 1>>;
        }
    }
};

template <size_t Filters, size_t Kernel, size_t Stride, size_t Factor, float First, float Step,
          size_t... I>
constexpr auto mobile_convs(std::index_sequence<I...>) {
    return block<
        mobile_conv<Filters, Kernel, I == 0 ? Stride : 1, Factor, First + Step* float(I)>{}...>;
}
// Count of them, of which the first has the stride. The rate of stochastic depth is First for that,
// and grows by Step from one to the next.
template <size_t Count, size_t Filters, size_t Kernel, size_t Stride, size_t Factor,
          float First = 0.0F, float Step = 0.0F>
inline constexpr auto mobile_stage =
    mobile_convs<Filters, Kernel, Stride, Factor, First, Step>(std::make_index_sequence<Count>{});

// First and Last are the filters of the convolutions around the stages.
template <size_t Classes, float Dropout, size_t First, size_t Last, auto... Stages>
struct efficientnet {
    constexpr auto operator()(Symbol auto image) const {
        constexpr auto features =
            block<conv_norm<First, 3, 2, 1, silu>, Stages..., conv_norm<Last, 1, 1, 1, silu>>;
        return image | named<"features", features> | global_avg_pool2d |
               named<"classifier", block<dropout<Dropout>, dense<Classes>>>;
    }
};

// The sixteen blocks of B0, with a rate of stochastic depth that grows from 0 to 15 Step.
template <size_t Classes, float Dropout, float Step>
using efficientnet_b0_layers = efficientnet<
    Classes, Dropout, 32, 1280, mobile_stage<1, 16, 3, 1, 1, 0 * Step, Step>,
    mobile_stage<2, 24, 3, 2, 6, 1 * Step, Step>, mobile_stage<2, 40, 5, 2, 6, 3 * Step, Step>,
    mobile_stage<3, 80, 3, 2, 6, 5 * Step, Step>, mobile_stage<3, 112, 5, 1, 6, 8 * Step, Step>,
    mobile_stage<4, 192, 5, 2, 6, 11 * Step, Step>, mobile_stage<1, 320, 3, 1, 6, 15 * Step, Step>>;

} // namespace detail

// For other images and classes: efficientnet_b0_of<input<3, 96, 96>, 20>. The rate of stochastic
// depth grows from 0 in the first block to 15/16 Depth in the last.
template <auto Input, size_t Classes, float Dropout = 0.2F, float Depth = 0.2F>
struct efficientnet_b0_of
    : network<detail::efficientnet_b0_layers<Classes, Dropout, Depth / 16>{}, Input> {};

using efficientnet_b0 = efficientnet_b0_of<input<3, 224, 224>, 1000>;

} // namespace castnet::zoo
