// ResNet-50, -101 and -152 for 224 x 224 colour images and 1000 classes (He et al. 2016), with the
// stride in the 3 x 3 convolution as in torchvision; 25,557,032 parameters for ResNet-50.
#pragma once

#include <castnet/nn/batch_norm.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/pooling.hpp>

namespace castnet::zoo {

namespace detail {

template <size_t Filters, size_t Kernel, size_t Stride = 1>
inline constexpr auto conv_norm =
    block<conv2d<Filters, Kernel, conv{.stride = Stride, .padding = Kernel / 2}>.no_bias().init(
              he_normal),
          batch_norm>;

// 1 x 1 down to Width, 3 x 3, 1 x 1 up to 4 * Width.
template <size_t Width, size_t Stride>
inline constexpr auto bottleneck =
    block<conv_norm<Width, 1>, relu, conv_norm<Width, 3, Stride>, relu, conv_norm<4 * Width, 1>>;

template <size_t Width>
inline constexpr auto unit = block<residual<bottleneck<Width, 1>>, relu>;

template <size_t Count, auto Layer>
struct repeated {
    constexpr auto operator()(Symbol auto x) const {
        return apply(x, std::make_index_sequence<Count>{});
    }

private:
    template <class X, size_t... I>
    static constexpr auto apply(X x, std::index_sequence<I...>) {
        scope_guard const scope{*x.g, layer_kind{"stage"}};
        return castnet::detail::chain<(void(I), Layer)...>(x);
    }
};

template <size_t Width, size_t Stride, size_t Count>
inline constexpr auto stage = block<
    block<projected_residual<conv_norm<4 * Width, 1, Stride>, bottleneck<Width, Stride>>, relu>,
    repeated<Count - 1, unit<Width>>{}>;

template <size_t A, size_t B, size_t C, size_t D>
using resnet =
    sequential<input<3, 224, 224>, conv_norm<64, 7, 2>, relu,
               max_pool2d<3, pooling{.stride = 2, .padding = 1}>, stage<64, 1, A>, stage<128, 2, B>,
               stage<256, 2, C>, stage<512, 2, D>, global_avg_pool2d, dense<1000>>;

} // namespace detail

using resnet50 = detail::resnet<3, 4, 6, 3>;
using resnet101 = detail::resnet<3, 4, 23, 3>;
using resnet152 = detail::resnet<3, 8, 36, 3>;

} // namespace castnet::zoo
