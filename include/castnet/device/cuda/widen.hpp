// Widening of convolution weights' gradients from bfloat16: cuDNN writes them in the type of the
// factors, so they go through scratch memory to the gradients' own type.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/graph/node.hpp>

namespace castnet::cuda {

constexpr std::ptrdiff_t weight_elements(window const& w) {
    return std::ptrdiff_t{w.filters} * (w.channels / w.groups) * w.kernel_h * w.kernel_w;
}

// Elements of type T of this scratch memory.
template <class T>
constexpr std::ptrdiff_t bf16_weight_scratch(window const& w) {
    constexpr std::ptrdiff_t in_value = sizeof(T) / sizeof(bfloat16);
    return (weight_elements(w) + in_value - 1) / in_value;
}

template <class T>
struct widen_body {
    bfloat16 const* from;
    T* to;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) { to[i] = T(from[i]); });
    }
};

} // namespace castnet::cuda
