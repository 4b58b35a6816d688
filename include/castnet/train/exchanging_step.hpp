// Engines of the training step of one of several replicas: how its collectives are executed.
#pragma once

#include <castnet/comm/single_replica.hpp>
#include <castnet/optim/sgd.hpp>
#include <castnet/train/step_exchanges.hpp>

#include <concepts>
#include <cstdint>

namespace castnet {

// An engine is made with the number of replicas. train() computes a step with the replica's
// samples, which have been collated, and executes what step_exchanges lists; with the last samples
// of the step it applies the optimizer's rule. `sums_totals`: the executor's totals are those of
// all replicas.
template <class Engine>
concept ExchangingStep =
    std::constructible_from<Engine, int> &&
    requires(Engine& engine, typename Engine::executor& e, comm::single_replica& others,
             samples_of_step const& now, std::uint64_t step, sgd const& rule) {
        { Engine::sums_totals } -> std::convertible_to<bool>;
        { engine.train(e, others, now, step, rule, 1.0F) } -> std::same_as<void>;
    };

// The engine for replicas whose sums are made in the host's memory (train/host_step.hpp) or in that
// of GPUs (train/gpu_step.hpp).
template <class Device, class Exchanges, bool OnGpus>
struct exchanging_step_of;

} // namespace castnet
