// compile(model, loss, optimizer, metrics…) fixes the types of the step; the training that it
// returns does the steps: fit(), evaluate(), or step() for loops of one's own.
#pragma once

#include <castnet/core/clock.hpp>
#include <castnet/core/text.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/data/shuffle.hpp>
#include <castnet/optim/hyperparameters.hpp>
#include <castnet/train/compile_arguments.hpp>
#include <castnet/train/fit_options.hpp>
#include <castnet/train/replicas.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace castnet {

template <class Model, class Loss, class Optimizer, class... Metrics>
class training {
    using T = typename Model::value_type;
    using replicas_type = replicas<Model, Loss, Optimizer, Metrics...>;
    using replica_type = typename replicas_type::replica_type;

public:
    using value_type = T;
    using device = typename Model::device;
    using optimizer_type = Optimizer;
    using scores_type = typename replica_type::scores_type;
    using position_type = fit_position<scores_type>;

    static constexpr auto const& training_plan = replica_type::training_plan;
    static constexpr auto const& evaluation_plan = replica_type::evaluation_plan;

    using strategies = typename replica_type::strategies;
    using exchanges = typename replica_type::exchanges;

    // Memory in bytes: what training adds to the parameters, and both together; of each replica.
    // (A sharded optimizer has less the more processes there are, which nobody knows yet.)
    static constexpr size_t gradient_bytes = replica_type::gradient_bytes;
    static constexpr size_t optimizer_bytes = replica_type::optimizer_bytes;
    static constexpr size_t batch_bytes = replica_type::batch_bytes;
    static constexpr size_t workspace_bytes = replica_type::workspace_bytes;
    static constexpr size_t arena_bytes = replica_type::arena_bytes;
    static constexpr size_t bytes = Model::parameter_bytes + arena_bytes;
    static_assert(fits_budget<bytes, Model::policy_type::budget>::checked);

    // Those of one device of policy::model_parallel: parameters that are at home there, with
    // gradients and optimizer state, and the workspace of its part of a training step. The batch is
    // the host's.
    static constexpr size_t device_bytes(int number) {
        device_memory const& here = training_plan.devices[number];
        return sizeof(T) * size_t(here.trained.count * (2 + Optimizer::slots) + here.others.count +
                                  here.workspace.count);
    }

    // Floating-point operations of a training step for one sample, without the optimizer.
    static constexpr std::ptrdiff_t flops_per_sample = training_plan.flops();

    // Throws castnet::error where a number of the optimizer is out of its range.
    training(Model& m, Optimizer const& o) : model_{m}, optimizer_{checked(o)}, replicas_{m} {}

    // What was really allocated: equals `bytes`, but for a sharded optimizer of several processes.
    size_t allocated_bytes() const {
        return replicas_.first().allocated_bytes() + Model::parameter_bytes;
    }

    // Replicas of the policy, in this process and others, which share the samples of every step;
    // the number of this process' first one; and the most samples that a step takes.
    int replica_count() const { return replicas_.size(); }
    int rank() const { return replicas_.rank(); }
    size_t step_capacity() const { return replicas_.step_capacity(); }

    // Steps done so far.
    std::uint64_t steps() const { return steps_; }

    // One update from these samples of the data, at most step_capacity(); returns loss and metrics
    // before the update. The learning rate, finite and not negative, is the optimizer's own if none
    // is given. Samples of
    // weight 0 are as if they were not there; where all are, nothing changes. All processes of a
    // policy with several must give the same samples.
    template <class Data>
    scores_type step(Data const& data, std::span<size_t const> samples,
                     std::optional<double> learning_rate = {},
                     std::span<float const> class_weight = {}) {
        detail::check_class_weight<data::targets_of<Data>>("step", class_weight);
        model_access::exclusive const access{model_.access(), "step"};
        replicas_.keep(data);
        replicas_.set_totals({});
        advance(data, samples, learning_rate.value_or(optimizer_.learning_rate), class_weight);
        return replicas_.totals();
    }

    // Calls after(i) when step i of training_plan has run, maybe in several parts, and after(-1)
    // before the first, in a forward and backward pass over these samples that changes nothing: see
    // train/profile.hpp.
    template <class Data, class After>
    void observe(Data const& data, std::span<size_t const> samples, After const& after) {
        model_access::exclusive const access{model_.access(), "observe"};
        std::vector<std::vector<T>> statistics; // a pass moves running statistics on
        for (placed_parameter const& p : training_plan.parameters) {
            statistics.push_back(p.trainable ? std::vector<T>{} : model_.get(p.name.text()));
        }
        replicas_.first().template fill<training_plan>(data, samples);
        after(-1);
        replicas_.first().observe(steps_, after);
        for (size_t i = 0; i < statistics.size(); ++i) {
            if (!statistics[i].empty()) {
                model_.set(training_plan.parameters[i].name.text(), statistics[i]);
            }
        }
    }

    // Loss and metrics over all samples, with running statistics and without dropout. Throws
    // castnet::error if there is no sample, or none that counts.
    template <class Data>
    scores_type evaluate(Data const& data) {
        check_samples("evaluate", data.size());
        model_access::exclusive const access{model_.access(), "evaluate"};
        replicas_.keep(data);
        replicas_.set_totals({});
        replicas_.evaluate(data);
        scores_type const s = replicas_.totals();
        if (s.weight == 0) {
            throw error("castnet: evaluate: the weight of every sample is 0: none counts");
        }
        return s;
    }

    // Trains for some epochs; a last batch that is not full counts as what it holds. Throws
    // castnet::error if there is no sample, if an option is out of its range, or if there is no
    // room for data that are on_device().
    template <class Data>
    history fit(Data const& data, fit_options<std::type_identity_t<Data>> const& options = {}) {
        check_fit(data, options);
        model_access::exclusive const access{model_.access(), "fit"};
        replicas_.keep(data);
        if (options.validation) {
            replicas_.keep(*options.validation);
        }
        position_ = std::exchange(resume_, {}).value_or(position_type{});
        begin_together(data.size(), options);
        size_t const capacity = step_capacity();
        size_t const steps = (data.size() + capacity - 1) / capacity;
        std::uint64_t const total = steps * std::uint64_t(options.epochs);
        std::vector<size_t> order(data.size());
        history h{column_names(options.validation.has_value())};
        progress bar{rank() == 0 ? options.verbose : verbosity::silent, steps};
        checkpoint_options const& checkpoint = options.checkpoint;
        if (position_.samples > data.size()) {
            throw error({"castnet: fit: the checkpoint stands at sample ", position_.samples,
                         " of an epoch, but the data set holds ", data.size(),
                         "; go on with the data that it was written with"});
        }
        while (position_.epochs < size_t(options.epochs)) {
            int const epoch = int(position_.epochs) + 1;
            std::iota(order.begin(), order.end(), size_t(0));
            if (options.shuffle) {
                data::shuffle(order, model_.seed_value(), epochs_);
            }
            bar.begin(epoch, options.epochs);
            double const start = detail::monotonic_seconds();
            double rate = optimizer_.learning_rate;
            replicas_.set_totals(position_.sums);
            while (position_.samples < data.size()) {
                size_t const first = position_.samples, s = first / capacity;
                size_t const count = std::min(capacity, data.size() - first);
                if (options.schedule) {
                    rate = options.schedule(std::uint64_t(epoch - 1) * steps + s, total);
                }
                advance(data, std::span{order}.subspan(first, count), rate, options.class_weight);
                position_.samples += count;
                bar.step(s + 1, [&] { return replicas_.totals(); });
                if (checkpoint.write && checkpoint.every > 0 && steps_ % checkpoint.every == 0) {
                    position_.sums = replicas_.totals();
                    checkpoint.write();
                }
            }
            scores_type const sums = replicas_.totals();
            position_ = {size_t(epoch), 0, {}};
            ++epochs_;
            double const seconds = detail::monotonic_seconds() - start;
            std::optional<scores_type> validated;
            if (options.validation) {
                validated = evaluate(*options.validation);
            }
            end_epoch(h, bar, sums, validated, rate, seconds);
            if (checkpoint.write) {
                checkpoint.write();
            }
            epoch_report report{epoch, h};
            if (options.on_epoch_end) {
                options.on_epoch_end(report);
            }
            if (replicas_.of_first(report.stop)) {
                break;
            }
        }
        position_ = {};
        return h;
    }

    // What a checkpoint holds besides the parameters: steps() and the number of epochs, which
    // decide about random numbers, how far the fit has come, and the numbers of the optimizer's
    // state for a trained parameter, in logical order.
    std::uint64_t epochs() const { return epochs_; }
    position_type const& position() const { return position_; }
    std::vector<T> slot(int which, placed_parameter const& p) const {
        return replicas_.first().slot(which, p);
    }
    // With a sharded optimizer no replica has all of the state. All processes call read_state()
    // together, which calls read() in that of rank 0, where slot() has it all; and who sets a slot,
    // sets all.
    template <class Read>
    void read_state(Read const& read) const {
        replicas_.collect_state();
        if (rank() == 0) {
            read();
        }
        replicas_.forget_whole_state();
    }
    void set_slot(int which, placed_parameter const& p, std::span<T const> values) {
        replicas_.first().set_slot(which, p, values);
        replicas_.changed();
    }
    // The next fit() goes on from `position`.
    void resume(std::uint64_t steps, std::uint64_t epochs, position_type const& position) {
        steps_ = steps;
        epochs_ = epochs;
        resume_ = position;
    }

    Model& model() const { return model_; }

    // The gradient of the last step by a parameter, divided by the sum of weights, in logical
    // order; empty for what is frozen. For tests and for loops of one's own.
    std::vector<T> gradient(std::string_view name) const {
        static_assert(!replica_type::strategies::sharded_optimizer,
                      "castnet: with strategy::sharded_optimizer no replica has all gradients");
        for (placed_parameter const& p : training_plan.parameters) {
            if (p.trainable && p.name.text() == name) {
                return replicas_.first().gradient(p);
            }
        }
        return {};
    }

private:
    // At the begin of fit: all processes go on from where the first one is.
    template <class Options>
    void begin_together([[maybe_unused]] size_t samples, [[maybe_unused]] Options const& options) {
        if constexpr (!replicas_type::alone) {
            replicas_.require_same(
                string_of({samples, " samples, ", options.epochs, " epochs, shuffle ",
                           options.shuffle, ", validation ", options.validation.has_value(),
                           ", class weights ", options.class_weight.size(), ", seed ",
                           model_.seed_value()}),
                "fit");
            replicas_.changed();
            replicas_.synchronize();
            steps_ = replicas_.of_first(steps_);
            epochs_ = replicas_.of_first(epochs_);
            position_ = replicas_.of_first(position_);
        }
    }

    // One step, whose loss and metrics are added to the totals.
    template <class Data>
    void advance(Data const& data, std::span<size_t const> samples, double rate,
                 std::span<float const> class_weight) {
        if (!detail::is_finite_not_negative(rate)) {
            refuse_rate(rate);
        }
        auto const rule = optimizer_.template at<T>(steps_ + 1, rate);
        steps_ += replicas_.train(data, samples, steps_, rule, class_weight);
    }

    [[gnu::cold]] static Optimizer const& checked(Optimizer const& o) {
        if constexpr (requires { o.hyperparameters(); }) {
            detail::check_hyperparameters(Optimizer::name, o.hyperparameters());
        }
        return o;
    }
    [[noreturn, gnu::cold]] void refuse_rate(double rate) const {
        throw error({"castnet: the learning rate of step ", steps_ + 1, " is ", rate,
                     ", expected a finite number that is not negative; see the schedule, or the "
                     "rate given to step()"});
    }

    template <class Data>
    [[gnu::cold]] static void check_fit(Data const& data, fit_options<Data> const& options) {
        check_samples("fit", data.size());
        if (options.validation) {
            check_samples("fit: validation", options.validation->size());
        }
        if (options.epochs < 0) {
            throw error({"castnet: fit: ", options.epochs, " epochs, expected a number from 0"});
        }
        detail::check_class_weight<data::targets_of<Data>>("fit", options.class_weight);
    }
    [[gnu::cold]] static void check_samples(char const* call, size_t size) {
        if (size == 0) {
            throw error({"castnet: ", call, ": the data set holds no sample"});
        }
    }

    // Writes down what an epoch came to, in the order of column_names().
    [[gnu::cold]] static void end_epoch(history& h, progress& bar, scores_type const& sums,
                                        std::optional<scores_type> const& validated, double rate,
                                        double seconds) {
        std::vector<double> row;
        auto const add = [&](scores_type const& s) {
            for (size_t i = 0; i < scores_type::count; ++i) {
                row.push_back(s.mean(i));
            }
        };
        add(sums);
        if (validated) {
            add(*validated);
        }
        row.push_back(rate);
        row.push_back(seconds);
        h.append(row);
        bar.end(sums, validated ? progress::means(*validated, "val_") : std::string{});
    }

    [[gnu::cold]] static std::vector<std::string> column_names(bool validation) {
        std::vector<std::string> names;
        for (char const* prefix : {"", "val_"}) {
            for (size_t i = 0; i < scores_type::count && (*prefix == 0 || validation); ++i) {
                names.push_back(string_of({prefix, scores_type::names[i]}));
            }
        }
        for (char const* name : {"learning_rate", "seconds"}) {
            names.push_back(name);
        }
        return names;
    }

    Model& model_;
    Optimizer optimizer_;
    replicas_type replicas_;
    std::uint64_t steps_ = 0;
    std::uint64_t epochs_ = 0;
    position_type position_{};
    std::optional<position_type> resume_{};
};

// The step of a model: its loss (nn/losses.hpp or one's own), optimizer and metrics. The training
// refers to the model, which must outlive it. It has the model to itself during fit(), step(),
// evaluate() and load(): they throw castnet::error while another thread trains, predicts or sets
// parameters, and so does that while they run; callbacks are calls of the training's own thread.
template <class Model, class Loss, class Optimizer, class... Metrics>
auto compile(Model& m, Loss, Optimizer const& o, Metrics...) {
    constexpr auto mistake = detail::mistake_in_compile<Model, Loss, Optimizer, Metrics...>();
    if constexpr (mistake == detail::mistake::none) {
        return training<Model, Loss, Optimizer, Metrics...>{m, o};
    } else {
        return refused_training<arguments_of_compile<mistake, Loss, Optimizer, Metrics...>>{};
    }
}

} // namespace castnet
