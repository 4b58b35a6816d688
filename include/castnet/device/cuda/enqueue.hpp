// What a device is given to do in a step, as kernels on a context's stream: the steps of a plan,
// the update of the parameters, and the sums of the plan's outputs over steps.
#pragma once

#include <castnet/device/cuda/one_block.hpp>
#include <castnet/device/cuda/optimize.hpp>

namespace castnet::cuda {

template <auto const& Plan, int Slots, class Rule, class Context>
auto update_call(Context const& c, update_values<Rule, typename Context::value_type> const* values,
                 penalized_range const* ranges) {
    using T = typename Context::value_type;
    T* const gradients = c.region[int(region::gradients)];
    std::ptrdiff_t const groups = Plan.trainable / lanes_of<T>;
    using body = optimize_body<Rule, Slots, T>;
    return kernel_call<body>{grid_for(groups),
                             {values, ranges, c.region[int(region::parameters)], gradients,
                              gradients + Plan.trainable, Plan.trainable, groups}};
}

template <auto const& Plan, class Context>
auto totals_call(Context const& c, double* totals) {
    constexpr int count = Plan.sizes.outputs;
    static_assert(count <= max_totals,
                  "castnet: policy::cuda sums the loss and at most 31 metrics");
    add_totals_body<typename Context::value_type> body{{}, totals, count};
    for (int i = 0; i < count; ++i) {
        body.results[i] = c.at(Plan.outputs[i]);
    }
    return kernel_call<decltype(body)>{{1, max_totals}, body};
}

// All steps of a plan, and kernels behind them: together one kernel, if the device says that the
// plan fits one block.
template <class Device, auto const& Plan, class... Body>
void enqueue(typename Device::context const& c, kernel_call<Body> const&... then) {
    if constexpr (Device::template in_one_block<Plan>) {
        launch_one_block<Plan>(c, then.body...);
    } else {
        run_steps<Device, Plan>(c, ignore_steps{});
        (..., c.launch(then.where, then.body));
    }
}

} // namespace castnet::cuda
