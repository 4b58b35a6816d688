// The small program, compiled by nvcc, with all that castnet::cuda links.
#include <castnet/device/cuda/prepare.hpp>

#include "../train_mlp.cpp"

static_assert(requires { castnet::cuda::prepare<float>; });
