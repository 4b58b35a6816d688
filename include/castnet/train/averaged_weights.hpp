// Moving averages in place of a model's weights, for a while.
#pragma once

#include <castnet/optim/ema.hpp>
#include <castnet/train/training.hpp>

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
// be evaluated, also in a callback of fit(), predicted with and saved. Statistics, such as the
// running means of batch_norm, are those of the weights until training.update_statistics(data)
// makes them those of the averages. Its end waits for predictions of other threads, and for
// stateful predictors: in the same thread they are declared after it, so that they end before, or
// it waits for ever. Then it puts weights and statistics back; until then a step, a checkpoint or
// load() of any training of the model throws castnet::error, and so do load() and copy_parameters()
// to the model. In all processes of a job or in none. Throws
// castnet::error, and leaves the model as it was, if no step has been done or if another thread
// uses the parameters.
template <class Training>
class [[nodiscard]] averaged_weights {
    using T = typename Training::value_type;
    using values = std::vector<std::vector<T>>; // of each parameter and statistic
    static_assert(detail::optimizer_averages<typename Training::optimizer_type>::checked);

public:
    explicit averaged_weights(Training& training) : training_{training} {
        model_access::exclusive const access{training.model().access(), "averaged_weights"};
        if (training.steps() == 0) {
            throw error("castnet: averaged_weights: there are no averages before the first step");
        }
        for (ir::placed_parameter const& p : parameters()) {
            before_.push_back(training.model().get(p.name.text()));
        }
        values averages = before_;
        auto const read = [&] {
            for (size_t i = 0; i < averages.size(); ++i) {
                if (parameters()[i].trainable) {
                    averages[i] = training.slot(0, parameters()[i]);
                }
            }
        };
        if constexpr (Training::strategies::sharded_optimizer) { // rank 0 gets all of them
            training.read_state(read, "averaged_weights");
            set(training.rank() == 0 ? averages : before_);
            training.synchronize();
        } else {
            read();
            set(averages);
        }
        training.model().access().show_averages(true);
    }
    averaged_weights(averaged_weights const&) = delete;
    averaged_weights& operator=(averaged_weights const&) = delete;
    ~averaged_weights() {
        model_access::exclusive const access{training_.model().access(), "averaged_weights",
                                             model_access::conflict::waited_for};
        training_.model().access().show_averages(false);
        try {
            set(before_);
        } catch (error const&) {
            return; // a device has failed, as its next call says
        }
    }

private:
    static detail::plan_parameters parameters() { return Training::training_plan().parameters; }
    void set(values const& all) {
        for (size_t i = 0; i < all.size(); ++i) {
            training_.model().set(parameters()[i], all[i]);
        }
    }

    Training& training_;
    values before_;
};

} // namespace castnet
