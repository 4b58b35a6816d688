// Cache of what a model's predictions compute of the parameters alone: weights as kernels read them
// and weights with batch normalisation folded into them.
#pragma once

#include <castnet/core/spin_lock.hpp>
#include <castnet/plan/memory.hpp>
#include <castnet/train/model_access.hpp>

#include <atomic>
#include <cstdint>

namespace castnet::detail {

// All executors of a model share it. It is made by the first prediction, and again by the first one
// after each change of the parameters.
template <class Model>
class prepared_parameters {
    using T = typename Model::value_type;

public:
    // Lets the executor of a call, which has access to the parameters, use it in its present state.
    template <class Executor>
    void bring_to(Executor& executor, model_access const& access) {
        std::uint64_t const now = access.version(); // 0: they may change without notice
        if (now == 0 || version_.load(std::memory_order_acquire) != now) {
            spin_lock const lock{busy_};
            if (now == 0 || version_.load(std::memory_order_relaxed) != now) {
                if (memory_.bytes() == 0) {
                    memory_ = typename Model::device::memory{Model::prepared_bytes};
                }
                executor.use_prepared(memory_.template as<T>());
                executor.template prepare_parameters<Model::prediction_plan>();
                version_.store(now, std::memory_order_release);
            }
        }
        executor.use_prepared(memory_.template as<T>());
    }

private:
    typename Model::device::memory memory_;
    std::atomic<std::uint64_t> version_{0}; // of the parameters that it was made of
    std::atomic_flag busy_;
};

} // namespace castnet::detail
