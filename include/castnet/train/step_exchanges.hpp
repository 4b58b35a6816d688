// Collectives of a training step by the plan and the strategy, and the owner of each parameter's
// update. Engines (train/exchanging_step.hpp) execute them.
#pragma once

#include <castnet/comm/collective.hpp>
#include <castnet/core/bfloat16.hpp>
#include <castnet/plan/communication.hpp>
#include <castnet/policy/strategy.hpp>

#include <algorithm>
#include <span>

namespace castnet {

// A replica's samples in one batch of a step.
struct samples_of_step {
    std::ptrdiff_t count = 0;
    size_t first = 0;    // in the step
    double share = 0;    // of the samples present
    bool is_last = true; // batch of the step
};

// The plan is Compiled::value. (nvcc 13.0 cannot name types with a reference to it as their
// argument in a class, but can in functions.)
template <class Compiled, class T, int Slots, class Strategy>
class step_exchanges {
    static constexpr auto trained_ = size_t(Compiled::value.trainable);
    static constexpr comm::part whole_[1]{{0, trained_}};

public:
    using compiled = Compiled;
    using strategy = Strategy;
    static constexpr int slots = Slots; // of the optimizer, per parameter
    static constexpr size_t trained = trained_;

    static std::span<ir::exchange const> all() {
        using table = ir::communication_of<Compiled::value, sizeof(T), Strategy::local_batch_norm>;
        return {table::value.exchanges, size_t(table::exchange_count)};
    }
    static std::span<ir::element_range const> ranges_of(ir::exchange const& e) {
        using table = ir::communication_of<Compiled::value, sizeof(T), Strategy::local_batch_norm>;
        return {table::value.ranges + e.first, size_t(e.last - e.first)};
    }

    // Number and bytes of the buckets of gradients or of another collective.
    static constexpr int count_of(bool gradients) {
        using table = ir::communication_of<Compiled::value, sizeof(T), Strategy::local_batch_norm>;
        return table::count_of(gradients);
    }
    static constexpr size_t bytes_of(bool gradients) {
        using table = ir::communication_of<Compiled::value, sizeof(T), Strategy::local_batch_norm>;
        return table::bytes_of(gradients);
    }

    // Owners of the parameters' updates, unless every replica updates all; and those of some
    // pieces.
    static constexpr comm::owners updated_by() { return updated_by(whole_); }
    static constexpr comm::owners updated_by(std::span<comm::part const> pieces) {
        return Strategy::sharded_optimizer ? comm::owners::shards(pieces, trained)
                                           : comm::owners::first();
    }
    static constexpr comm::part piece_of(ir::element_range const& gradients) {
        return {size_t(gradients.offset), size_t(gradients.offset + gradients.count)};
    }

    // Elements of each of the optimizer's slots, which lie after the gradients; then come the
    // gradients accumulated over the batches of a step.
    static constexpr size_t slot_elements(int replicas) {
        return Strategy::sharded_optimizer ? comm::owners::largest_shard(trained, replicas)
                                           : trained;
    }
    static constexpr size_t kept_at(int replicas) {
        return trained + size_t(Slots) * slot_elements(replicas);
    }
    // Then, on GPUs, a buffer for a bucket of rounded gradients.
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
            using table =
                ir::communication_of<Compiled::value, sizeof(T), Strategy::local_batch_norm>;
            for (ir::exchange const& e : table::value.exchanges) {
                largest = std::max(largest, e.gradients ? size_t(e.count) : 0);
            }
        }
        return (largest * sizeof(bfloat16) + sizeof(T) - 1) / sizeof(T);
    }
};

} // namespace castnet
