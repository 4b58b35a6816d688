// Cost of a training step on a GPU, and the least time that it takes there.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cuda/step_cost.hpp>

#include <string>

namespace castnet {

namespace detail {

template <class Training>
concept OnGpu = requires { Training::device::is_gpu; };

template <class Training>
constexpr bool is_one_kernel() {
    return Training::device::template in_one_block<Training::training_plan()>;
}

template <class Training>
using rule_of_training = rule_of<typename Training::optimizer_type, typename Training::value_type>;

} // namespace detail

// The cost of a training step on a policy for GPUs. A step that is one kernel of one block (see
// docs/cuda.md) is one launch, whose bytes are those of the batch, the parameters and the slots.
template <detail::OnGpu Training>
constexpr step_cost cuda_cost(Training const&) {
    using T = typename Training::value_type;
    constexpr auto const& p = Training::training_plan();
    constexpr int slots = Training::optimizer_type::slots;
    step_cost cost = cuda::cost_of_step<T, slots, detail::rule_of_training<Training>>(p);
    if constexpr (detail::is_one_kernel<Training>()) {
        cost.kernels = 1;
        cost.bytes =
            static_cast<double>(p.elements(ir::region::batch) + p.trainable * (3 + 2 * slots)) *
            sizeof(T);
    }
    return cost;
}

// The least time in seconds of a training step on a GPU with these limits: every launch for itself,
// whichever of memory, arithmetic and its start takes longest. What a measured time can be compared
// with; no step is faster.
//     cn::cuda_floor(training, {.bytes_per_second = 3e12, .product_flops_per_second = 8e14,
//                               .other_flops_per_second = 5e13, .seconds_per_kernel = 1e-6})
template <detail::OnGpu Training>
constexpr double cuda_floor(Training const& training, gpu_limits const& gpu) {
    if constexpr (detail::is_one_kernel<Training>()) {
        return cuda::floor_of(cuda_cost(training), gpu);
    } else {
        return cuda::floor_of_step<typename Training::value_type, Training::optimizer_type::slots,
                                   detail::rule_of_training<Training>>(Training::training_plan(),
                                                                       gpu);
    }
}

// The cost of a training step in words: "step: 135.137 GB moved, 6220.1 GFLOP in products, …".
template <detail::OnGpu Training>
[[gnu::cold]] std::string cost_report(Training const& training) {
    step_cost const cost = cuda_cost(training);
    return string_of({"step: ", cost.bytes / 1e9, " GB moved, ", cost.product_flops / 1e9,
                      " GFLOP in products, ", cost.other_flops / 1e9, " GFLOP in other kernels, ",
                      cost.kernels, " kernels\n"});
}
// With the floor of a GPU with these limits.
template <detail::OnGpu Training>
[[gnu::cold]] std::string cost_report(Training const& training, gpu_limits const& gpu) {
    return string_of({cost_report(training), "floor: ", 1e3 * cuda_floor(training, gpu), " ms\n"});
}

} // namespace castnet
