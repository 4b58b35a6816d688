// Table of the CPU's kernels by operation, and those of operations that are in no table.
#pragma once

#include <castnet/device/cpu/attention.hpp>
#include <castnet/device/cpu/attention_gradient.hpp>
#include <castnet/device/cpu/batch_matmul.hpp>
#include <castnet/device/cpu/cache.hpp>
#include <castnet/device/cpu/conv.hpp>
#include <castnet/device/cpu/cumulative_sum.hpp>
#include <castnet/device/cpu/linear_algebra.hpp>
#include <castnet/device/cpu/matmul.hpp>
#include <castnet/device/cpu/parameter_slice.hpp>
#include <castnet/device/cpu/permute.hpp>
#include <castnet/device/cpu/pool.hpp>
#include <castnet/device/cpu/rearrange.hpp>
#include <castnet/device/cpu/recurrence.hpp>
#include <castnet/device/cpu/rows.hpp>
#include <castnet/device/cpu/unfold.hpp>
#include <castnet/device/cpu/upsample.hpp>
#include <castnet/device/cpu/weight_values.hpp>
#include <castnet/graph/operations.hpp>

#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// kernel_for<T, K> by number; nullptr where a kernel has no such function.
template <class T>
struct kernel_entry {
    kernel<T> (*kernel_of)(kernel_launch const&, window const*) = nullptr;
    scratch_size (*scratch)(window const&) = nullptr;
    bool (*whole)(kernel_launch const&, window const*) = nullptr;
    // Whether there are such functions: GCC 12 with sanitizers compares no addresses in constants.
    bool has_scratch = false, has_whole = false;
};

// F: the factors of products; other kernels are those of their sums' type.
template <class F, op K>
constexpr kernel_entry<sum_type<F>> make_kernel_entry() {
    using T = sum_type<F>;
    using from = kernel_for<std::conditional_t<operation<K>::traits.product, F, T>, K>;
    kernel_entry<T> e;
    if constexpr (requires { from::of; }) {
        e.kernel_of = from::of;
    }
    if constexpr (requires { from::scratch; }) {
        e.scratch = from::scratch;
        e.has_scratch = true;
    }
    if constexpr (requires { from::whole; }) {
        e.whole = from::whole;
        e.has_whole = true;
    }
    return e;
}

template <class T>
struct kernel_entries {
    kernel_entry<T> of[static_cast<size_t>(op::count)];
};
template <class F, size_t... K>
constexpr kernel_entries<sum_type<F>> all_kernels(std::index_sequence<K...>) {
    return {{make_kernel_entry<F, static_cast<op>(K)>()...}};
}

template <class F>
inline constexpr kernel_entries<sum_type<F>> kernel_table =
    all_kernels<F>(std::make_index_sequence<static_cast<size_t>(op::count)>{});

// Empty for an operation that is not in the table.
template <class F>
constexpr kernel_entry<sum_type<F>> kernel_entry_of(op kind) {
    return kind < op::count ? kernel_table<F>.of[static_cast<size_t>(kind)]
                            : kernel_entry<sum_type<F>>{};
}

} // namespace castnet::cpu::inline CASTNET_TARGET
