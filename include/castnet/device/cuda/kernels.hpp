// CUDA kernels of all operations, for contexts on the GPU and, in tests, on the host.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/cuda/attention.hpp>
#include <castnet/device/cuda/attention_gradient.hpp>
#include <castnet/device/cuda/batch_matmul.hpp>
#include <castnet/device/cuda/cache.hpp>
#include <castnet/device/cuda/convert.hpp>
#include <castnet/device/cuda/cumulative_sum.hpp>
#include <castnet/device/cuda/linear_algebra.hpp>
#include <castnet/device/cuda/map.hpp>
#include <castnet/device/cuda/parameter_slice.hpp>
#include <castnet/device/cuda/permute.hpp>
#include <castnet/device/cuda/pool.hpp>
#include <castnet/device/cuda/rearrange.hpp>
#include <castnet/device/cuda/recurrence.hpp>
#include <castnet/device/cuda/reduce.hpp>
#include <castnet/device/cuda/row_program.hpp>
#include <castnet/device/cuda/rows.hpp>
#include <castnet/device/cuda/unfold.hpp>
#include <castnet/device/cuda/weight_values.hpp>

namespace castnet::cuda {

template <class Program, class Context>
CASTNET_HD constexpr kernel<Context> fused_kernel() {
    if constexpr (Program::phases > 1) {
        return &run_row_program<Program, Context>;
    } else if constexpr (Program::stores == Program::results) {
        return &map<Program, Context>;
    } else {
        return &reduce<Program, Context>;
    }
}

} // namespace castnet::cuda
