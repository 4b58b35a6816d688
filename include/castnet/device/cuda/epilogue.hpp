// Epilogues (plan/epilogue.hpp) of cuDNN and cuBLASLt.
#pragma once

#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/epilogue.hpp>
#include <castnet/device/ir.hpp>

#include <type_traits>

namespace castnet::cuda {

// A bias alone or with relu; after a product, gelu_tanh too; the gradient of a dense layer's bias.
// Neither library has them for double.
template <class T>
constexpr bool takes_epilogue(op product, epilogue const& e) {
    bool const known = e.bias_gradient
                           ? product == op::matmul_weight
                           : !e.activates || e.activation == fn::relu ||
                                 (e.activation == fn::gelu_tanh && product == op::matmul);
    return !std::is_same_v<T, double> && known;
}

} // namespace castnet::cuda
