// castnet on GPUs: policy::cuda, and tensors on device::cuda. To be included besides castnet.hpp,
// in files that nvcc compiles.
#pragma once

#include <castnet/device/cuda/devices.hpp>
#include <castnet/device/cuda/tensor.hpp>
#include <castnet/policy/cuda.hpp>
#include <castnet/train/cuda_cost.hpp>
