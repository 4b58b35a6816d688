// The tables of castnet's own CUDA kernels, for contexts on the GPU and, in tests, on the host.
#pragma once

#include <castnet/device/cuda/map.hpp>
#include <castnet/device/cuda/pool.hpp>
#include <castnet/device/cuda/rearrange.hpp>
#include <castnet/device/cuda/reduce.hpp>

namespace castnet::cuda {

template <class Context>
using kernel = void (*)(step const&, tables const&, Context const&);

template <class Program, class Context>
constexpr kernel<Context> fused_kernel() {
    if constexpr (Program::end.code == opcode::store) {
        return &map<Program, Context>;
    } else {
        return &reduce<Program, Context>;
    }
}

// Of what is neither a fused program nor a product or convolution; nullptr for those.
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD constexpr kernel<Context> own_kernel(op kind) {
    switch (kind) {
    case op::max_pool:
        return &max_pool<Context>;
    case op::max_pool_gradient:
        return &max_pool_gradient<Context>;
    case op::avg_pool:
        return &avg_pool<Context>;
    case op::avg_pool_gradient:
        return &avg_pool_gradient<Context>;
    case op::upsample:
        return &upsample<Context>;
    case op::upsample_gradient:
        return &upsample_gradient<Context>;
    case op::concat:
        return &concat<Context>;
    case op::slice:
        return &slice<Context>;
    case op::slice_gradient:
        return &slice_gradient<Context>;
    case op::reshape:
        return &reshape<Context>;
    default:
        return nullptr;
    }
}

} // namespace castnet::cuda
