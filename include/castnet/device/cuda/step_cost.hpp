// Cost of a step on a GPU: bytes moved, floating-point operations and kernels, as the plan has
// them; and the least time that a GPU with given limits takes for them.
#pragma once

#include <castnet/device/cuda/loop_memory.hpp>
#include <castnet/device/cuda/orthogonalize.hpp>
#include <castnet/device/cuda/planning.hpp>
#include <castnet/device/cuda/winner_bytes.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/plan/run_order.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace castnet {

// Of one launch of a plan, or of several. Each operand and result of a launch counts once, whatever
// caches keep; operations are those of direct algorithms, without the functions of the update. All
// weights count as orthogonal, by the usual number of steps, if the optimizer makes them so.
struct step_cost {
    double bytes = 0;         // read and written in the GPU's memory
    double product_flops = 0; // of products and convolutions
    double other_flops = 0;   // of functions and reductions
    double kernels = 0;       // launches

    constexpr step_cost& operator+=(step_cost const& other) {
        bytes += other.bytes;
        product_flops += other.product_flops;
        other_flops += other.other_flops;
        kernels += other.kernels;
        return *this;
    }
};

// Limits of a GPU, from its data sheet or as measured.
struct gpu_limits {
    double bytes_per_second = 0;         // of its memory
    double product_flops_per_second = 0; // in the type of the policy's products
    double other_flops_per_second = 0;   // in the policy's type, without tensor cores
    double seconds_per_kernel = 0;       // from a kernel's start to that of the next, of empty ones
};

namespace cuda {

// Kernels of a launch; the libraries' products are one, with the bias and activation after them.
constexpr int kernels_of(kernel_launch const& s) {
    return s.kind == op::attention_gradient ? 2 : 1;
}

// Whether an array of a launch holds the winners of a pooling's windows, as bytes (pool.hpp).
constexpr bool are_winners(kernel_launch const& s, int array, window const* windows) {
    bool const fused = (s.kind == op::map || s.kind == op::reduce) && s.window >= 0;
    int const winners = s.kind == op::max_pool            ? s.output + 1
                        : s.kind == op::max_pool_gradient ? s.first_array
                        : fused                           ? s.first_array + s.arrays - 1
                                                          : -1;
    return array == winners && winner_bytes(windows[s.window]) == 1;
}

// Of launch i of a plan, each time that it runs.
template <class Plan>
constexpr step_cost cost_of_launch(Plan const& p, int i, std::size_t value_bytes) {
    kernel_launch const& s = p.launches[i];
    auto const samples = static_cast<double>(p.batch);
    step_cost cost;
    for (int k = s.first_array; k < s.output + s.results; ++k) {
        array_ref const& r = p.arrays[k];
        bool const product = s.end.bias && k == s.first_array + 2; // overwritten in registers
        std::size_t const each = product                        ? 0
                                 : are_winners(s, k, p.windows) ? 1
                                 : r.is_bf16                    ? sizeof(bfloat16)
                                                                : value_bytes;
        cost.bytes += static_cast<double>(r.size.count()) * (r.size.sample ? samples : 1) *
                      static_cast<double>(each);
    }
    double const flops = static_cast<double>(s.flops) * (is_of_samples(s, p.arrays) ? samples : 1);
    (s.kind == op::map || s.kind == op::reduce ? cost.other_flops : cost.product_flops) += flops;
    cost.kernels = kernels_of(s);
    return cost;
}

// Calls f(cost) for the launches that make a direction orthogonal (orthogonalize.hpp).
template <class T, class F>
constexpr void for_each_orthogonalization_cost(weight_matrix const& w, F const& f) {
    auto const bytes = [](std::ptrdiff_t elements) {
        return static_cast<double>(elements) * static_cast<double>(sizeof(T));
    };
    f(step_cost{.bytes = bytes(2 * w.count()), .kernels = 1});
    for (int step = 0; step < orthogonalization::usual_steps; ++step) {
        for (matrix_product const& m : products_of_step(w)) {
            std::ptrdiff_t const results = m.rows * m.columns,
                                 read = (m.rows + m.columns) * m.depth +
                                        (m.of_addend != 0 ? results : 0);
            f(step_cost{.bytes = bytes(read + results),
                        .product_flops = 2 * static_cast<double>(results * m.depth),
                        .kernels = 1});
        }
    }
}

// Calls f(cost) for the launches of the update by a rule that knows the norm of the gradient.
template <class T, int Slots, class Rule, class Plan, class F>
constexpr void for_each_update_cost(Plan const& p, F const& f) {
    using one = std::remove_cvref_t<decltype(rule_of_group(std::declval<Rule const&>(), 0))>;
    double const once = static_cast<double>(p.trainable) * static_cast<double>(sizeof(T)),
                 parameters_and_slots = (2 + 2 * Slots) * once; // read and written
    if constexpr (ByParameter<Rule>) {
        if constexpr (requires(one rule) { rule.set_gradient_norm(1.0); }) {
            f(step_cost{.bytes = 2 * once, .kernels = 1}); // of gradients with penalties
        }
        if constexpr (castnet::detail::has_direction<one, T, Slots>) { // which is written, and read
            f(step_cost{.bytes = parameters_and_slots + once, .kernels = 1});
        }
    }
    if constexpr (Orthogonalizes<Rule>) {
        for (placed_parameter const& each : p.parameters) {
            if (each.trainable && is_weight(each.kind)) {
                for_each_orthogonalization_cost<T>(matrix_of(each), f);
            }
        }
    }
    f(step_cost{.bytes = parameters_and_slots + once, .kernels = 1});
}

// The same for all that a training step ends with (closing_calls in enqueue.hpp): the sums of the
// results, the norm of the gradient, if the optimizer's rule needs it, and the update.
template <class T, int Slots, class Rule, class Plan, class F>
constexpr void for_each_closing_cost(Plan const& p, F const& f) {
    if constexpr (NeedsNorm<Rule>) {
        f(step_cost{.bytes = static_cast<double>(p.trainable) * static_cast<double>(sizeof(T)),
                    .kernels = 1}); // the sum of squares of the gradients
        f(step_cost{.kernels = 1}); // its root
    }
    if constexpr (ByParameter<Rule>) {
        f(step_cost{.kernels = 1}); // the sums, of which others are a part of the update
    }
    for_each_update_cost<T, Slots, Rule>(p, f);
}

// Calls f(cost) for every launch of a plan for a GPU that computes in T, in a training step by this
// rule. (Data on the GPU are gathered by one kernel more.)
template <class T, class Rule, class Plan, class F>
constexpr void for_each_launch_cost(Plan const& p, F const& f) {
    constexpr std::size_t value_bytes = sizeof(T);
    for_each_stage(p, [&](stage const& g, int, int) {
        bool const one_kernel = is_loop_kernel<T>(p, g);
        double const times = g.iterations > 0 ? g.iterations : 1;
        for (int i = g.first; i < g.last; ++i) {
            step_cost cost = cost_of_launch(p, i, value_bytes);
            if (one_kernel) {
                cost.kernels = i == g.first ? 1 : 0;
            } else {
                cost.kernels *= times; // each of them on its part of the arrays
            }
            if (i + 1 == Plan::sizes.launches && widens_in_update<Rule>(p)) {
                cost.kernels = 0;
            }
            f(cost);
        }
    });
}

// The same with the launches that end the step; the optimizer keeps so many slots.
template <class T, int Slots, class Rule, class Plan, class F>
constexpr void for_each_cost(Plan const& p, F const& f) {
    for_each_launch_cost<T, Rule>(p, f);
    for_each_closing_cost<T, Slots, Rule>(p, f);
}

template <class T, int Slots, class Rule, class Plan>
constexpr step_cost cost_of_step(Plan const& p) {
    step_cost sum;
    for_each_cost<T, Slots, Rule>(p, [&](step_cost const& cost) { sum += cost; });
    return sum;
}

// The least time of a launch: of what takes it longest.
constexpr double floor_of(step_cost const& cost, gpu_limits const& gpu) {
    double const times[] = {
        cost.bytes / gpu.bytes_per_second, cost.product_flops / gpu.product_flops_per_second,
        cost.other_flops / gpu.other_flops_per_second, cost.kernels * gpu.seconds_per_kernel};
    double most = 0;
    for (double const time : times) {
        most = time > most ? time : most;
    }
    return most;
}

} // namespace cuda
} // namespace castnet
