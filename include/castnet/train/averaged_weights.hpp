// Moving averages in place of a model's weights, for a while.
#pragma once

#include <castnet/optim/ema.hpp>
#include <castnet/train/training.hpp>

#include <string>
#include <utility>
#include <vector>

namespace castnet {

namespace detail {

template <class Optimizer>
struct optimizer_averages {
    static_assert(
        requires { typename Optimizer::averaged_optimizer; },
        "castnet: averaged_weights needs a training whose optimizer keeps averages: "
        "compile(model, loss, cn::ema(cn::adam{}, 0.999)); see optimizer_averages<optimizer>");
    static constexpr bool checked = true;
};

} // namespace detail

// While it lives, the model of a training has the averages of its weights that ema() keeps: it can
// be evaluated, also in a callback of fit(), predicted with and saved. Its end puts the weights
// back, so a step, a checkpoint or load() of the training comes before or after. In all processes
// of a job or in none. Throws castnet::error if no step has been done.
template <class Training>
class [[nodiscard]] averaged_weights {
    using T = typename Training::value_type;
    static_assert(detail::optimizer_averages<typename Training::optimizer_type>::checked);

public:
    explicit averaged_weights(Training& training) : training_{training} {
        if (training.steps() == 0) {
            throw error("castnet: averaged_weights: there are no averages before the first step");
        }
        for (ir::placed_parameter const& p : Training::training_plan().parameters) {
            if (p.trainable) {
                std::string name = p.name.text();
                std::vector<T> own = training.model().get(name);
                before_.emplace_back(std::move(name), std::move(own));
            }
        }
        auto const take = [&] {
            auto next = before_.begin();
            for (ir::placed_parameter const& p : Training::training_plan().parameters) {
                if (p.trainable) {
                    training.model().set(next++->first, training.slot(0, p));
                }
            }
        };
        if constexpr (Training::strategies::sharded_optimizer) { // rank 0 gets all of them
            training.read_state(take, "averaged_weights");
            if (training.rank() != 0) {
                put_back();
            }
            training.synchronize();
        } else {
            take();
        }
    }
    averaged_weights(averaged_weights const&) = delete;
    averaged_weights& operator=(averaged_weights const&) = delete;
    ~averaged_weights() { put_back(); }

private:
    void put_back() {
        for (auto const& [name, values] : before_) {
            training_.model().set(name, values);
        }
    }

    Training& training_;
    std::vector<std::pair<std::string, std::vector<T>>> before_;
};

} // namespace castnet
