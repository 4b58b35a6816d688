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

// Calls f(cost) for each launch of a training step.
template <class Training, class F>
constexpr void for_each_step_cost(F const& f) {
    using T = typename Training::value_type;
    using rule = rule_of<typename Training::optimizer_type, T>;
    constexpr auto const& p = Training::training_plan();
    constexpr int slots = Training::optimizer_type::slots;
    if constexpr (is_one_kernel<Training>()) {
        constexpr bool updates = !Orthogonalizes<rule>; // by products, which follow the kernel
        step_cost kernel;
        cuda::for_each_launch_cost<T, rule>(p, [&](step_cost const& cost) { kernel += cost; });
        kernel.kernels = 1;
        kernel.bytes = static_cast<double>(p.elements(ir::region::batch) +
                                           p.trainable * (updates ? 3 + 2 * slots : 2)) *
                       sizeof(T);
        f(kernel);
        if constexpr (!updates) {
            cuda::for_each_update_cost<T, slots, rule>(p, f);
        }
    } else {
        cuda::for_each_cost<T, slots, rule>(p, f);
    }
}

} // namespace detail

// The cost of a training step on a policy for GPUs. A step that is one kernel of one block (see
// docs/cuda.md) is one launch, whose bytes are those of the batch, the parameters and the slots;
// the products of cn::muon follow it.
template <detail::OnGpu Training>
constexpr step_cost cuda_cost(Training const&) {
    step_cost sum;
    detail::for_each_step_cost<Training>([&](step_cost const& cost) { sum += cost; });
    return sum;
}

// The least time in seconds of a training step on a GPU with these limits: every launch for itself,
// whichever of memory, arithmetic and its start takes longest. What a measured time can be compared
// with; no step is faster.
//     cn::cuda_floor(training, {.bytes_per_second = 3e12, .product_flops_per_second = 8e14,
//                               .other_flops_per_second = 5e13, .seconds_per_kernel = 1e-6})
template <detail::OnGpu Training>
constexpr double cuda_floor(Training const&, gpu_limits const& gpu) {
    double sum = 0;
    detail::for_each_step_cost<Training>(
        [&](step_cost const& cost) { sum += cuda::floor_of(cost, gpu); });
    return sum;
}

// The cost of a training step in words: "step: 135.137 GB moved, 6220.1 GFLOP in products, …".
template <detail::OnGpu Training>
[[gnu::noinline]] std::string cost_report(Training const& training) {
    step_cost const cost = cuda_cost(training);
    return string_of({"step: ", cost.bytes / 1e9, " GB moved, ", cost.product_flops / 1e9,
                      " GFLOP in products, ", cost.other_flops / 1e9, " GFLOP in other kernels, ",
                      cost.kernels, " kernels\n"});
}
// With the floor of a GPU with these limits.
template <detail::OnGpu Training>
[[gnu::noinline]] std::string cost_report(Training const& training, gpu_limits const& gpu) {
    return string_of({cost_report(training), "floor: ", 1e3 * cuda_floor(training, gpu), " ms\n"});
}

} // namespace castnet
