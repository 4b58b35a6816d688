// Tensors on a GPU: tensor<T, shape, device::cuda>, their arithmetic, products and copies. Kernels
// are compiled by nvcc.
#pragma once

#include <castnet/device/cuda/tensor/closeness.hpp>
#include <castnet/device/cuda/tensor/device.hpp>
#include <castnet/device/cuda/tensor/evaluate.hpp>
#include <castnet/device/cuda/tensor/gather.hpp>
#include <castnet/device/cuda/tensor/matmul.hpp>
#include <castnet/device/cuda/tensor/owning_tensor.hpp>
#include <castnet/device/cuda/tensor/random.hpp>
#include <castnet/device/cuda/tensor/reduce.hpp>
#include <castnet/device/cuda/tensor/search.hpp>
#include <castnet/device/cuda/tensor/stream.hpp>
