// Launcher of an operation's kernels, by specialisation beside them.
//
// kernel_for<Context, K> holds
//
//   CASTNET_HD static constexpr kernel<Context> of();
//
// of a function that launches kernels by c.launch(); for every context, where it may also run
// within a block (one_block.hpp) and, in tests, on the host.
#pragma once

#include <castnet/device/cuda/step_values.hpp>

namespace castnet::cuda {

template <class Context>
using kernel = void (*)(kernel_launch const&, tables const&, Context const&);

template <class Context, op K>
struct kernel_for {};

// A base of all that are one function.
template <class Context, auto Function>
struct function_kernel {
    CASTNET_HD static constexpr kernel<Context> of() { return Function; }
};

} // namespace castnet::cuda
