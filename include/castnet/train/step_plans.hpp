// Plans of a training's steps, and the memory that a replica needs for them.
#pragma once

#include <castnet/comm/single_replica.hpp>
#include <castnet/core/text.hpp>
#include <castnet/device/executor_sizes.hpp>
#include <castnet/optim/accumulate.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/policy/devices.hpp>
#include <castnet/policy/strategy.hpp>
#include <castnet/train/agreement.hpp>
#include <castnet/train/compiled_step.hpp>
#include <castnet/train/recipes.hpp>
#include <castnet/train/scores.hpp>
#include <castnet/train/step_exchanges.hpp>
#include <castnet/train/step_scalars.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace castnet {

template <class Model, class Loss, class Optimizer, class... Metrics>
class step_plans {
protected:
    using device = typename Model::device;
    using T = typename Model::value_type;
    using network = typename Model::network_type;
    using rule_type = detail::rule_of<Optimizer, T>;
    static constexpr size_t capacity = Model::capacity;

private:
    using policy = typename Model::policy_type;
    using recipe = detail::step_recipe<Loss, Metrics...>;

public:
    using strategies =
        detail::with_batches<detail::strategy_of<policy>, detail::batches_of_step<Optimizer>()>;
    using scores_type = detail::scores_of_step<network, Loss, Metrics...>;
    using sums_type = typename scores_type::sums_type;
    using scalars = std::array<double, detail::scalar_count<Loss, Metrics...>>;
    using targets = detail::targets_of_step<Loss, typename Model::output_shapes>;

    using compiled_training = detail::compiled_step<recipe, network, device, capacity, true>;
    // Functions, since a class would evaluate constants of deduced types with its definition.
    static constexpr auto const& training_plan() { return compiled_training::value; }
    static constexpr auto const& evaluation_plan() {
        return detail::compiled_step<recipe, network, device, capacity, false>::value;
    }
    static auto evaluate_plans() {
        ir::evaluate_pipeline<recipe, network, device, capacity, true>();
        ir::evaluate_pipeline<recipe, network, device, capacity, false>();
    }

    static constexpr size_t trained = size_t(training_plan().trainable);
    using exchanges = step_exchanges<compiled_training, T, Optimizer::slots, strategies>;
    // Whether sums over replicas are made in the memory of GPUs.
    static constexpr bool on_gpus = requires { requires comm::group_of<policy>::on_gpus; };

    // Bytes of a replica's memory without the model's parameters; an upper bound where the
    // optimizer state is sharded over a number of replicas that is known at run time only.
    static constexpr int replicas_at_least = std::max(detail::fixed_replicas<policy>(), 1);
    static constexpr size_t gradient_bytes =
        size_t(training_plan().elements(ir::region::gradients)) * sizeof(T);
    static constexpr size_t optimizer_bytes =
        exchanges::slot_elements(replicas_at_least) * size_t(Optimizer::slots) * sizeof(T);
    // Scratch of the optimizer in the workspace, whose activations nobody reads any more.
    static constexpr std::ptrdiff_t update_scratch() {
        if constexpr (ByParameter<rule_type>) {
            return device::template update_scratch<rule_type, Optimizer::slots>(training_plan());
        } else {
            return 0;
        }
    }
    static constexpr size_t batch_bytes =
        size_t(std::max(training_plan().elements(ir::region::batch),
                        evaluation_plan().elements(ir::region::batch))) *
        sizeof(T);
    static constexpr size_t workspace_bytes =
        size_t(std::max({training_plan().elements(ir::region::workspace),
                         evaluation_plan().elements(ir::region::workspace), update_scratch()})) *
        sizeof(T);
    static constexpr auto sizes(int replicas) {
        return ir::sizes_on<device>({std::ptrdiff_t(gradient_bytes / sizeof(T)),
                                     std::ptrdiff_t(exchanges::state_elements(replicas, on_gpus)),
                                     std::ptrdiff_t(batch_bytes / sizeof(T)),
                                     std::ptrdiff_t(workspace_bytes / sizeof(T)),
                                     std::ptrdiff_t(capacity), std::ptrdiff_t(sums_type::sums)},
                                    training_plan(), evaluation_plan());
    }
    static constexpr size_t executor_bytes = device::executor::bytes(sizes(replicas_at_least));

    // Records the settings that must be equal in programs that exchange data.
    [[gnu::noinline]] static void describe(detail::settings& s) {
        detail::digest plan;
        for (ir::kernel_launch const& each : training_plan().launches) {
            ir::array_ref const& r = training_plan().array(each.output);
            plan.take(std::uint64_t(each.kind));
            plan.take(std::uint64_t(each.flops));
            plan.take(std::uint64_t(r.where) << 60 ^ std::uint64_t(r.offset));
        }
        std::string names = scores_type::names[0];
        for (size_t i = 1; i < scores_type::count; ++i) {
            append(names, {", ", scores_type::names[i]});
        }
        s.add("the number of trained numbers", training_plan().trainable);
        s.add("bytes of a number", sizeof(T));
        s.add("the batch", capacity);
        s.add("the optimizer", Optimizer::name);
        s.add("loss and metrics", names);
        s.add("the strategy", strategies::text());
        s.add("digest of the plan", plan);
    }
};

} // namespace castnet
