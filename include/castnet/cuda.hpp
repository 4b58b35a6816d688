// castnet on GPUs: policy::cuda. To be included besides castnet.hpp, in files that nvcc compiles.
#pragma once

#include <castnet/policy/cuda.hpp>
#include <castnet/train/cuda_cost.hpp>
