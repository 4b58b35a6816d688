// The small program, compiled by nvcc, with all that castnet::cuda links.
#include "../train_mlp.cpp"

#include <castnet/device/cuda/prepare.hpp>

static_assert(requires { castnet::cuda::prepare<float>; });
