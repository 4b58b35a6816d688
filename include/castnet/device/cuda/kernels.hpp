// The tables of castnet's own CUDA kernels, for contexts on the GPU and, in tests, on the host.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/cuda/attention.hpp>
#include <castnet/device/cuda/attention_gradient.hpp>
#include <castnet/device/cuda/batch_matmul.hpp>
#include <castnet/device/cuda/cache.hpp>
#include <castnet/device/cuda/convert.hpp>
#include <castnet/device/cuda/cumulative_sum.hpp>
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

#include <utility>

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

namespace detail {

template <class Context, op K>
constexpr kernel<Context> kernel_if_any() {
    if constexpr (requires { kernel_for<Context, K>::of(); }) {
        return kernel_for<Context, K>::of();
    } else {
        return nullptr;
    }
}

template <class Context>
struct kernel_table {
    kernel<Context> of[static_cast<size_t>(op::count)];
};
template <class Context, size_t... K>
constexpr kernel_table<Context> all_kernels(std::index_sequence<K...>) {
    return {{kernel_if_any<Context, static_cast<op>(K)>()...}};
}

} // namespace detail

// The kernel of an operation of castnet's own, but for fused programs; nullptr where a context has
// none.
template <class Context>
kernel<Context> kernel_of(op kind) {
    static constexpr detail::kernel_table<Context> table =
        detail::all_kernels<Context>(std::make_index_sequence<static_cast<size_t>(op::count)>{});
    return table.of[static_cast<size_t>(kind)];
}

} // namespace castnet::cuda
