// policy::mirrored and policy::distributed on several GPUs, by NCCL. To be included besides
// castnet.hpp and cuda.hpp, in files that nvcc compiles; needs castnet::nccl.
#pragma once

#include <castnet/comm/nccl.hpp>
#include <castnet/train/gpu_step.hpp>
