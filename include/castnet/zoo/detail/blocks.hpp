// Building blocks that several networks share.
#pragma once

#include <castnet/nn/batch_norm.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/pooling.hpp>

namespace castnet::zoo::detail {

// A convolution without bias, Kernel / 2 zeros around.
template <size_t Filters, size_t Kernel, size_t Stride = 1, size_t Groups = 1>
inline constexpr auto conv_of =
    conv2d<Filters, Kernel, conv{.stride = Stride, .padding = Kernel / 2, .groups = Groups}>
        .no_bias()
        .init(he_normal);

// The same with its batch normalisation and an activation, if one is given: parameters "0.…" and
// "1.…" (torchvision's Conv2dNormActivation).
template <size_t Filters, size_t Kernel, size_t Stride = 1, size_t Groups = 1, auto... Activation>
inline constexpr auto conv_norm =
    block<conv_of<Filters, Kernel, Stride, Groups>, batch_norm, Activation...>;

template <Symbol X>
inline constexpr size_t channels_in = channels_of<typename X::shape_type>;

template <auto First, auto Next, size_t... I>
constexpr auto repeated(std::index_sequence<I...>) {
    return block<First, (void(I), Next)...>;
}
// Count layers, the first of which may be another, as a block: "0.…", "1.…", ….
template <size_t Count, auto First, auto Next = First>
inline constexpr auto repeat = repeated<First, Next>(std::make_index_sequence<Count - 1>{});

} // namespace castnet::zoo::detail
