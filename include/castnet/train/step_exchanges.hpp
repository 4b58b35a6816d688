// Exchanges of replicas in a training step, and who updates which parameters: those of the plan, in
// the way of a strategy. train/host_step.hpp carries it out in the memory of the
// host, device/cuda/exchanges.hpp in that of GPUs.
#pragma once

#include <castnet/comm/collective.hpp>
#include <castnet/core/bfloat16.hpp>
#include <castnet/plan/communication.hpp>
#include <castnet/policy/strategy.hpp>

#include <algorithm>
#include <span>

namespace castnet {

// Which samples of a step a replica computes now.
struct samples_of_step {
    std::ptrdiff_t count = 0;
    size_t first = 0;    // in the step
    double share = 0;    // of those that are present
    bool is_last = true; // of several such in a step
};

// The plan is Program::value. (nvcc 13.0 cannot say the types of a class that have a reference to
// it as their argument; in functions it can.)
template <class Program, class T, int Slots, class Strategy>
class step_exchanges {
    static constexpr auto trained_ = size_t(Program::value.trainable);
    static constexpr comm::part whole_[1]{{0, trained_}};

public:
    using program = Program;
    using strategy = Strategy;
    static constexpr int slots = Slots; // that the optimizer has for a parameter
    static constexpr size_t trained = trained_;

    static std::span<exchange const> all() {
        using table = communication_of<Program::value, sizeof(T), Strategy::local_batch_norm>;
        return {table::value.exchanges, size_t(table::exchange_count)};
    }
    static std::span<element_range const> ranges_of(exchange const& e) {
        using table = communication_of<Program::value, sizeof(T), Strategy::local_batch_norm>;
        return {table::value.ranges + e.first, size_t(e.last - e.first)};
    }

    // Buckets of gradients, or what else is exchanged: how many, and their bytes together.
    static constexpr int count_of(bool gradients) {
        using table = communication_of<Program::value, sizeof(T), Strategy::local_batch_norm>;
        return table::count_of(gradients);
    }
    static constexpr size_t bytes_of(bool gradients) {
        using table = communication_of<Program::value, sizeof(T), Strategy::local_batch_norm>;
        return table::bytes_of(gradients);
    }

    // Who updates which parameters, unless all update all; and which of those in some pieces.
    static constexpr comm::owners updated_by() { return updated_by(whole_); }
    static constexpr comm::owners updated_by(std::span<comm::part const> pieces) {
        return Strategy::sharded_optimizer ? comm::owners::shards(pieces, trained)
                                           : comm::owners::first();
    }
    static constexpr comm::part piece_of(element_range const& gradients) {
        return {size_t(gradients.offset), size_t(gradients.offset + gradients.count)};
    }

    // Behind the gradients lie the optimizer's slots, of so many elements each; then gradients that
    // are kept from one batch of a step to the next.
    static constexpr size_t slot_elements(int replicas) {
        return Strategy::sharded_optimizer ? comm::owners::largest_shard(trained, replicas)
                                           : trained;
    }
    static constexpr size_t kept_at(int replicas) {
        return trained + size_t(Slots) * slot_elements(replicas);
    }
    // Then, in the memory of GPUs, room for a bucket of rounded gradients.
    static constexpr size_t rounded_at(int replicas) {
        return kept_at(replicas) + (Strategy::micro_batches > 1 ? trained : 0);
    }
    static constexpr size_t state_elements(int replicas, bool on_gpus) {
        return rounded_at(replicas) - trained + (on_gpus ? rounded_elements() : 0);
    }

private:
    static constexpr size_t rounded_elements() {
        size_t largest = 0;
        if constexpr (Strategy::bfloat16_gradients) {
            using table = communication_of<Program::value, sizeof(T), Strategy::local_batch_norm>;
            for (exchange const& e : table::value.exchanges) {
                largest = std::max(largest, e.gradients ? size_t(e.count) : 0);
            }
        }
        return (largest * sizeof(bfloat16) + sizeof(T) - 1) / sizeof(T);
    }
};

} // namespace castnet
