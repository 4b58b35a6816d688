// State of a training, as its checkpoints hold it: the optimizer and its state, the steps and
// epochs done, the history, and which parameters are frozen.
#pragma once

#include <castnet/core/clock.hpp>
#include <castnet/core/hyperparameters.hpp>
#include <castnet/optim/wrapped.hpp>
#include <castnet/train/agreement.hpp>
#include <castnet/train/fit_options.hpp>
#include <castnet/train/history.hpp>
#include <castnet/train/parameter_groups.hpp>
#include <castnet/train/replicas.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace castnet {

template <class Model, class Loss, class Optimizer, class... Metrics>
class training_state {
protected:
    using T = typename Model::value_type;
    using replicas_type = replicas<Model, Loss, Optimizer, Metrics...>;
    using replica_type = typename replicas_type::replica_type;

public:
    using scores_type = typename replica_type::scores_type;
    using sums_type = typename scores_type::sums_type;
    using position_type = fit_position<sums_type>;
    using strategies = typename replica_type::strategies;

    static constexpr auto const& training_plan() { return replica_type::training_plan(); }
    static constexpr ir::fingerprint fingerprint() {
        return replica_type::compiled_training::fingerprint();
    }

    Model& model() const { return model_; }
    // The rank of this process's first replica.
    int rank() const { return replicas_.rank(); }

    // Steps done so far.
    std::uint64_t steps() const { return steps_; }

    // The content of a checkpoint besides the parameters: steps() and the number of epochs, which
    // select random numbers, the position of the fit, its history, and the optimizer state of a
    // trained parameter, in logical order.
    std::uint64_t epochs() const { return epochs_; }
    position_type position() const {
        position_type p = position_;
        if (p.samples > 0) {
            p.sums = replicas_.totals();
            p.seconds = detail::monotonic_seconds() - epoch_start_;
        }
        return p;
    }
    history const& fit_history() const { return history_; }
    Optimizer const& optimizer() const { return optimizer_; }
    auto const& scalars() const { return scalars_; } // of loss and metrics, in their order
    std::vector<T> slot(int which, ir::placed_parameter const& p) const {
        return replicas_.first().slot(which, p);
    }
    // With a sharded optimizer no replica has the whole state. read_state() is collective over all
    // processes and calls read() on rank 0, where slot() returns all of it; set_slot() must be
    // called for all slots and parameters.
    template <class Read>
    void read_state(Read const& read, char const* call = "save") const {
        using access = std::conditional_t<strategies::sharded_optimizer, model_access::exclusive,
                                          model_access::shared>; // until the whole state is read
        access const here{model_.access(), call};
        if constexpr (strategies::sharded_optimizer) {
            replicas_.agree(call, [](auto&) {});
        }
        replicas_.collect_state();
        if (rank() == 0) {
            read();
        }
        replicas_.forget_whole_state();
    }
    // Gives all replicas and processes the parameters of rank 0, which all of them have set;
    // collective. Otherwise the next call that needs them does.
    void synchronize() const { replicas_.synchronize(); }
    void set_slot(int which, ir::placed_parameter const& p, std::span<T const> values) {
        replicas_.first().set_slot(which, p, values);
        replicas_.changed();
    }
    // A flag for each parameter of the training plan, or none.
    void set_frozen(detail::frozen_flags flags) {
        if (flags != frozen_) {
            set_groups(flags);
            frozen_ = std::move(flags);
        }
    }
    // The next fit() goes on from `position`.
    void resume(std::uint64_t steps, std::uint64_t epochs, position_type const& position,
                history h) {
        set_epoch(position); // first, since it may throw
        steps_ = steps;
        epochs_ = epochs;
        position_ = position;
        history_ = std::move(h);
        resumed_ = true;
    }

protected:
    training_state(Model& m, Loss const& loss, Optimizer const& o, Metrics const&... metrics)
        : model_{m}, optimizer_{checked(o)}, scalars_{detail::all_scalars(loss, metrics...)},
          metrics_{detail::metrics_of_step<typename Model::network_type, Loss>(metrics...)},
          replicas_{m, scalars_} {
        detail::check_scalars(scalars_);
        replicas_.agree("compile", [&](auto& s) {
            replica_type::describe(s);
            s.add("the seed", model_.seed_value());
            detail::add_optimizer<T>(s, optimizer_);
            detail::add_scalars(s, scalars_);
            if constexpr (detail::has_groups<Optimizer>) {
                s.add("parameter groups", optimizer_.group_names());
            }
        });
        if constexpr (detail::has_groups<Optimizer>) {
            detail::check_groups(optimizer_, training_plan().parameters);
            set_groups(frozen_);
        }
    }

    // Begins a fit with the parameters and the position of the first process.
    void begin_together() {
        if constexpr (!replicas_type::is_single) {
            replicas_.changed();
            replicas_.synchronize();
            steps_ = replicas_.of_first(steps_);
            epochs_ = replicas_.of_first(epochs_);
            position_ = replicas_.of_first(position());
            std::vector<double> const of_first =
                replicas_.of_first(std::vector<double>(frozen_.begin(), frozen_.end()));
            set_frozen({of_first.begin(), of_first.end()});
        }
    }

    // Tells the replicas by which rule of the optimizer they update each parameter.
    [[gnu::noinline]] void set_groups(detail::frozen_flags const& frozen) {
        replicas_.set_groups(detail::groups_of(optimizer_, frozen, training_plan().parameters));
    }

    // At the beginning of an epoch, or within it after a restart.
    void begin_epoch() { set_epoch(position_); }
    void set_epoch(position_type const& position) {
        replicas_.set_totals(position.sums);
        epoch_start_ = detail::monotonic_seconds() - position.seconds;
    }

    // The first step begins all averages of ema(), also of parameters that it does not update.
    [[gnu::noinline]] void begin_averages_of_frozen() {
        auto const parameters = detail::plan_parameters{training_plan().parameters};
        for (size_t i = 0; i < parameters.size(); ++i) {
            if (detail::is_frozen(frozen_, i)) {
                set_slot(0, parameters[i], model_.get(parameters[i].name.text()));
            }
        }
    }

private:
    [[gnu::noinline]] static Optimizer checked(Optimizer const& o) {
        detail::check_hyperparameters_of(o);
        return o;
    }

protected:
    Model& model_;
    Optimizer optimizer_;
    typename replica_type::scalars scalars_;
    typename scores_type::metrics_type metrics_;
    replicas_type replicas_;
    std::uint64_t steps_ = 0;
    std::uint64_t epochs_ = 0;
    position_type position_{};
    history history_{};      // of the epochs of the fit
    double epoch_start_ = 0; // seconds, see position()
    bool resumed_ = false;   // by load(): the next fit goes on from position_
    detail::frozen_flags frozen_;
};

} // namespace castnet
