// compile(model, loss, optimizer, metrics…) fixes the types of the step; the training that it
// returns does the steps: fit(), evaluate(), or step() for loops of one's own.
#pragma once

#include <castnet/core/clock.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/core/text.hpp>
#include <castnet/core/wildcard.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/data/epoch.hpp>
#include <castnet/data/is_dataset.hpp>
#include <castnet/data/shuffle.hpp>
#include <castnet/optim/hyperparameters.hpp>
#include <castnet/optim/wrapped.hpp>
#include <castnet/train/compile_arguments.hpp>
#include <castnet/train/fit_options.hpp>
#include <castnet/train/hints.hpp>
#include <castnet/train/loss_watch.hpp>
#include <castnet/train/replicas.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

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
    using sums_type = typename scores_type::sums_type;
    using position_type = fit_position<sums_type>;

    static constexpr auto const& training_plan = replica_type::training_plan;
    static constexpr auto const& evaluation_plan = replica_type::evaluation_plan;

    static constexpr bool has_processes = replicas_type::has_processes;
    using strategies = typename replica_type::strategies;
    using exchanges = typename replica_type::exchanges;

    // Memory in bytes of each replica: what training adds to the parameters, and both together. (An
    // upper bound for a sharded optimizer: its share shrinks with the number of processes, which is
    // known at run time only.)
    static constexpr size_t gradient_bytes = replica_type::gradient_bytes;
    static constexpr size_t optimizer_bytes = replica_type::optimizer_bytes;
    static constexpr size_t batch_bytes = replica_type::batch_bytes;
    static constexpr size_t workspace_bytes = replica_type::workspace_bytes;
    static constexpr size_t arena_bytes = replica_type::arena_bytes;
    static constexpr size_t bytes = Model::parameter_bytes + arena_bytes;
    static_assert(fits_budget<bytes, Model::policy_type::budget>::checked);

    // Bytes of one device of policy::model_parallel: its parameters, with gradients and optimizer
    // state, and the workspace of its part of a training step; without the batch.
    static constexpr size_t device_bytes(int number) {
        ir::device_memory const& here = training_plan.devices[number];
        return sizeof(T) * size_t(here.trained.count * (2 + Optimizer::slots) + here.others.count +
                                  here.workspace.count);
    }

    // Floating-point operations of a training step for one sample, without the optimizer.
    static constexpr std::ptrdiff_t flops_per_sample = training_plan.flops();

    // Throws castnet::error where a number of the optimizer is out of its range, or one of the loss
    // or a metric is not finite; and on all processes of a policy with several if they differ in
    // anything that their programs decide, or in these numbers.
    training(Model& m, Loss const& loss, Optimizer const& o, Metrics const&... metrics)
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
            begin_groups();
        }
    }

    // The same with the numbers of loss and metrics that they have by default.
    training(Model& m, Optimizer const& o) : training{m, Loss{}, o, Metrics{}...} {}

    // Allocated bytes: equal to `bytes`, except with a sharded optimizer on several processes.
    size_t allocated_bytes() const {
        return replicas_.first().allocated_bytes() + Model::parameter_bytes;
    }

    // The number of replicas in all processes, which share the samples of every step; the rank of
    // this process's first one; and the most samples of a step.
    int replica_count() const { return replicas_.size(); }
    int rank() const { return replicas_.rank(); }
    size_t step_capacity() const { return replicas_.step_capacity(); }

    // Steps done so far.
    std::uint64_t steps() const { return steps_; }

    // One update from these samples of the data, at most step_capacity(); returns loss and metrics
    // before the update. The learning rate, finite and not negative, is the optimizer's own if none
    // is given. Samples of weight 0 are as if they were not there; where all are, nothing changes.
    // Throws castnet::error within fit(), and if the processes of a policy with several do not give
    // the same.
    template <data::Dataset<T> Data>
    scores_type step(Data const& data, std::span<size_t const> samples,
                     std::optional<double> learning_rate = {},
                     std::span<float const> class_weight = {}) {
        refuse_within_fit("step");
        double const rate = learning_rate.value_or(optimizer_.learning_rate);
        replicas_.agree("step", [&](auto& s) {
            s.add("the number of steps before", steps_);
            s.add("whether state was set", replicas_.are_alike() ? "no" : "yes");
            s.add("the number of samples", samples.size());
            s.add("digest of sample numbers and class weights",
                  detail::digest_of(samples, class_weight));
            s.add_exactly("the learning rate", rate);
            s.add("digest of frozen parameters", detail::digest_of(frozen_));
        });
        detail::check_class_weight<data::targets_of<Data>>("step", class_weight);
        model_access::exclusive const access{model_.access(), "step"};
        replicas_.keep(data);
        return totals_of([&] { advance(data, samples, rate, class_weight); });
    }

    // The same from all samples of the data, as of a batch in tensors:
    // training.step(data::of_tensors(features, targets)).
    template <data::Dataset<T> Data>
    scores_type step(Data const& data) {
        std::vector<size_t> samples(data.size());
        std::iota(samples.begin(), samples.end(), size_t{0});
        return step(data, samples);
    }

    // Calls after(i) when step i of training_plan has run, maybe in several parts, and after(-1)
    // before the first, in a forward and backward pass over these samples that changes nothing: see
    // train/profile.hpp.
    template <class Data, class After>
    void observe(Data const& data, std::span<size_t const> samples, After const& after) {
        model_access::exclusive const access{model_.access(), "observe"};
        std::vector<std::vector<T>> statistics; // a pass moves running statistics on
        for (ir::placed_parameter const& p : training_plan.parameters) {
            statistics.push_back(p.trainable ? std::vector<T>{} : model_.get(p.name.text()));
        }
        replicas_.first().template collate<training_plan>(data, samples);
        after(-1);
        replicas_.first().observe(steps_, after);
        for (size_t i = 0; i < statistics.size(); ++i) {
            if (!statistics[i].empty()) {
                model_.set(training_plan.parameters[i].name.text(), statistics[i]);
            }
        }
    }

    // Leaves parameters as they are from now on, or trains them again: those with names such as the
    // pattern, in which * stands for any characters ("body.*", "*.bias"; PyTorch's
    // requires_grad_(False), Keras' trainable). Their optimizer's state waits, and clip_norm()
    // counts the others only. The plan stays: their gradients are computed, which cn::frozen<...>
    // in the network saves; running statistics of batch normalisation go on. Checkpoints have what
    // is frozen. May be called between fits or in their callbacks, in all processes alike. Throws
    // castnet::error if no trained parameter has such a name.
    void freeze(std::string_view pattern) { set_frozen("freeze", pattern, true); }
    void unfreeze(std::string_view pattern) { set_frozen("unfreeze", pattern, false); }

    // The names of the parameters that freeze() has left as they are.
    [[gnu::cold]] std::vector<std::string> frozen() const {
        std::vector<std::string> names;
        for (size_t i = 0; i < frozen_.size(); ++i) {
            if (frozen_[i] != 0) {
                names.push_back(training_plan.parameters[i].name.text());
            }
        }
        return names;
    }

    // Loss and metrics over all samples, with running statistics and without dropout. Throws
    // castnet::error if there is no sample, or none that counts.
    template <data::Dataset<T> Data>
    scores_type evaluate(Data const& data) {
        replicas_.agree("evaluate", [&](auto& s) { detail::add_data(s, "the data", data); });
        check_samples("evaluate", data.size());
        model_access::exclusive const access{model_.access(), "evaluate"};
        replicas_.keep(data);
        scores_type const s = totals_of([&] { replicas_.evaluate(data, epochs_); });
        if (s.weight == 0) {
            throw error("castnet: evaluate: the weight of every sample is 0: none counts");
        }
        return s;
    }

    // Copies data that are on_device() to their devices, which otherwise happens when they are
    // first used. Throws castnet::error if there is no room.
    template <class Data>
    void keep(Data const& data) {
        replicas_.keep(data);
    }

    // Trains for some epochs and returns the history of all of them. A smaller last batch counts by
    // its samples. After load() of a checkpoint that a fit has written, it does the rest of that
    // fit, which may be nothing; otherwise every call trains for all given epochs, from the present
    // parameters: three fits of one epoch equal one of three.
    //
    // Throws castnet::error if there is no sample; if an option is out of its range; if the loss is
    // NaN or infinite and that is not allowed; if there is no room for data that are on_device();
    // and within a fit of this training, as from a callback. Throws sample_error, with the epoch,
    // for what a data set of the program's own throws.
    template <data::Dataset<T> Data>
    history fit(Data const& data, fit_options<training> const& options = {}) {
        refuse_within_fit("fit");
        agree_on_fit(data, options);
        detail::check_class_weight<data::targets_of<Data>>("fit", options.class_weight);
        check_fit(data.size(), options);
        {
            model_access::exclusive const access{model_.access(), "fit"};
            fit_scope const within{fitting_};
            replicas_.keep(data);
            if (options.validation.has_value()) {
                options.validation.keep(*this);
            }
            begin_fit(data.size(), options);
            if (rank() == 0 && options.verbose != verbosity::silent) {
                give_hints(data);
            }
            train_epochs(data, options);
        }
        position_ = {};
        history h = std::exchange(history_, {});
        for (callback const& each : options.callbacks) {
            each.end_fit(h);
        }
        return h;
    }

    // For a type that is no data set: fails with a message.
    template <class Data>
    scores_type step(Data const&, std::span<size_t const>, std::optional<double> = {},
                     std::span<float const> = {}) {
        static_assert(data::is_dataset<Data, T>::checked);
        return {};
    }
    template <class Data>
    scores_type evaluate(Data const&) {
        static_assert(data::is_dataset<Data, T>::checked);
        return {};
    }
    template <class Data>
    history fit(Data const&, fit_options<training> const& = {}) {
        static_assert(data::is_dataset<Data, T>::checked);
        return history{{}};
    }

    // Not here: says where.
    template <class Data>
    std::vector<T> predict(Data const&) {
        static_assert(detail::never<Data>, "castnet: it is the model that predicts: "
                                           "model.predict(data), also while it is trained");
        return {};
    }

    // Throws castnet::error where fit() is running, and calls back: `call` would change its steps.
    void refuse_within_fit(char const* call) const {
        if (fitting_) {
            throw error({"castnet: ", call,
                         " was called within fit() of the same training, from "
                         "on_epoch_end, a schedule or a data set; there, evaluate() and save() "
                         "are possible, and report.stop ends the fit"});
        }
    }

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
    void set_frozen(std::vector<unsigned char> flags) {
        if (flags != frozen_) {
            frozen_ = std::move(flags);
            set_groups();
        }
    }
    // The next fit() goes on from `position`.
    void resume(std::uint64_t steps, std::uint64_t epochs, position_type const& position,
                history h) {
        steps_ = steps;
        epochs_ = epochs;
        position_ = position;
        history_ = std::move(h);
        resumed_ = true;
        begin_epoch();
    }

    Model& model() const { return model_; }

    // The gradient of the last step by a parameter, divided by the sum of weights, in logical
    // order; empty for a frozen one. Throws castnet::error if there is no parameter of this name.
    // For tests and for loops of one's own.
    std::vector<T> gradient(std::string_view name) const {
        static_assert(!replica_type::strategies::sharded_optimizer,
                      "castnet: with strategy::sharded_optimizer no replica has all gradients");
        for (ir::placed_parameter const& p : training_plan.parameters) {
            if (p.trainable && p.name.text() == name) {
                return replicas_.first().gradient(p);
            }
        }
        model_.get(name); // throws where there is none
        return {};
    }

private:
    struct fit_scope {
        bool& within;
        explicit fit_scope(bool& flag) : within{flag} { within = true; }
        fit_scope(fit_scope const&) = delete;
        fit_scope& operator=(fit_scope const&) = delete;
        ~fit_scope() { within = false; }
    };

    // The epochs that are left, unless a callback ends the fit.
    template <class Data>
    void train_epochs(Data const& data, fit_options<training> const& options) {
        size_t const capacity = step_capacity();
        size_t const steps = (data.size() + capacity - 1) / capacity;
        std::vector<size_t> order(data.size());
        std::optional<std::uint64_t> ordered; // for this epoch
        auto const order_for = [&](std::uint64_t epoch) {
            if (ordered != epoch) {
                std::iota(order.begin(), order.end(), size_t(0));
                if (options.shuffle) {
                    data::shuffle(order, model_.seed_value(), epoch, data::shuffle_buffer(data));
                }
                ordered = epoch;
            }
        };
        progress bar{rank() == 0 ? options.verbose : verbosity::silent, steps};
        bool interrupted = false;
        while (!interrupted && !position_.stopped && position_.epochs < size_t(options.epochs)) {
            order_for(epochs_);
            bar.begin(int(position_.epochs) + 1, options.epochs);
            begin_epoch();
            try {
                interrupted = !train_epoch(data, order, options, bar);
            } catch (sample_error const& e) {
                throw sample_error{e, position_.epochs + 1};
            }
            if (position_.samples == data.size()) {
                if (position_.epochs + 1 < size_t(options.epochs)) {
                    order_for(epochs_ + 1); // while a GPU is at the last steps
                }
                end_epoch(options, bar, steps, data::seconds_waited(data));
                report_epoch(options, false);
            } else if (options.checkpoint.write) {
                options.checkpoint.write();
            }
        }
    }

    // The steps of an epoch that are left; false if a callback has ended the fit.
    template <class Data>
    bool train_epoch(Data const& data, std::span<size_t const> order,
                     fit_options<training> const& options, progress& bar) {
        size_t const capacity = step_capacity();
        size_t const steps = (data.size() + capacity - 1) / capacity;
        checkpoint_options const& checkpoint = options.checkpoint;
        double const factor = rate_factor(options);
        double before = detail::monotonic_seconds();
        [[maybe_unused]] auto const reading = replicas_.read_epoch(
            data, epochs_, order.subspan(position_.samples), capacity, strategies::micro_batches);
        while (position_.samples < data.size()) {
            size_t const first = position_.samples, s = first / capacity;
            size_t const count = std::min(capacity, data.size() - first);
            position_.rate =
                factor * (options.schedule ? options.schedule(position_.epochs * steps + s,
                                                              steps * std::uint64_t(options.epochs))
                                           : optimizer_.learning_rate);
            data::begin_step(data);
            advance(data, order.subspan(first, count), position_.rate, options.class_weight);
            position_.samples += count;
            if constexpr (replicas_type::totals_at_hand) {
                check_loss(replicas_.totals(), s + 1);
            }
            bar.step(s + 1, [&] { return totals_to_show(s + 1); });
            if (checkpoint.write && checkpoint.every > 0 && steps_ % checkpoint.every == 0) {
                check_loss(replicas_.totals(), s + 1);
                checkpoint.write();
            }
            if (!report_step(options, count, before)) {
                return false;
            }
        }
        return true;
    }

    // The factor of the learning rate that callbacks ask for.
    [[gnu::cold]] double rate_factor(fit_options<training> const& options) const {
        double factor = 1;
        for (callback const& each : options.callbacks) {
            factor *= each.rate_factor(history_);
        }
        return factor;
    }

    // Tells callbacks of a step; false if one of them ends the fit.
    bool report_step(fit_options<training> const& options, size_t samples, double& before) {
        bool const seen = std::any_of(options.callbacks.begin(), options.callbacks.end(),
                                      [](callback const& each) { return each.sees_steps(); });
        if (!seen) {
            return true;
        }
        double const now = detail::monotonic_seconds();
        step_report report{int(position_.epochs) + 1,        steps_, samples, position_.rate,
                           now - std::exchange(before, now), rank()};
        for (callback const& each : options.callbacks) {
            each.end_step(report);
        }
        return !replicas_.any(report.stop);
    }

    // Loss and metrics of f() only; keeps those of an epoch in progress.
    template <class F>
    scores_type totals_of(F const& f) {
        bool const in_epoch = fitting_ || position_.samples > 0;
        sums_type const epoch = in_epoch ? replicas_.totals() : sums_type{};
        replicas_.set_totals({});
        try {
            f();
        } catch (...) {
            std::exception_ptr const cause = std::current_exception();
            try {
                if (in_epoch) {
                    replicas_.set_totals(epoch);
                }
            } catch (error const&) { // the device that has failed in f()
                std::rethrow_exception(cause);
            }
            throw;
        }
        sums_type const s = replicas_.totals();
        if (in_epoch) {
            replicas_.set_totals(epoch);
        }
        return {s, metrics_};
    }

    // Throws castnet::error on all processes unless they are told the same.
    template <class Data>
    void agree_on_fit(Data const& data, fit_options<training> const& options) const {
        replicas_.agree("fit", [&](auto& s) {
            detail::add_data(s, "the data", data);
            detail::add_class_weights(s, options.class_weight);
            s.add("epochs", options.epochs);
            s.add("shuffle", options.shuffle ? "set" : "not set");
            if (options.validation.has_value()) {
                options.validation.describe(s, "the validation data");
            } else {
                s.add("samples of the validation data", 0);
            }
            std::uint64_t const steps = (data.size() + step_capacity() - 1) / step_capacity();
            detail::add_schedule(s, options.schedule,
                                 steps * std::uint64_t(std::max(options.epochs, 0)));
            if constexpr (strategies::sharded_optimizer) { // else only rank 0 writes
                s.add("steps between checkpoints",
                      options.checkpoint.write ? options.checkpoint.every : 0);
                s.add("a checkpoint", options.checkpoint.write ? "set" : "not set");
            }
        });
    }

    // Starts at the position of a checkpoint or at the beginning; all processes at that of the
    // first one.
    [[gnu::cold]] void begin_fit(size_t samples, fit_options<training> const& options) {
        if (!std::exchange(resumed_, false)) {
            position_ = {};
            history_ = {};
        }
        loss_watch_ = {options.allow_nan, rank() == 0 && options.verbose != verbosity::silent};
        begin_together();
        std::vector<std::string> names = column_names(options.validation.has_value());
        if (position_.samples > 0 && position_.data_size != samples) {
            throw error({"castnet: fit: the checkpoint stands at sample ", position_.samples,
                         " of an epoch of ", position_.data_size, ", but the data set holds ",
                         samples, "; go on with the data that it was written with"});
        }
        position_.data_size = samples;
        bool const fits = history_.names().empty() || history_.names() == names;
        if (!replicas_.of_first(fits)) {
            throw error({"castnet: fit: the checkpoint was written ",
                         options.validation.has_value() ? "without" : "with",
                         " validation data, go on ",
                         options.validation.has_value() ? "without" : "with",
                         " them, so that the history has the same columns"});
        }
        history_ = history{std::move(names), replicas_.of_first(history_.rows())};
        bool const nothing_left =
            position_.stopped || (position_.epochs > 0 && options.epochs <= int(position_.epochs));
        for (callback const& each : options.callbacks) {
            each.begin_fit(history_);
        }
        if (position_.callback_pending) {
            report_epoch(options, true);
        }
        if (nothing_left && rank() == 0 && options.verbose != verbosity::silent) {
            std::fprintf(stderr,
                         "castnet: fit: the checkpoint stands behind epoch %zu%s: nothing is left "
                         "to train (epochs = %d counts those before the restart)\n",
                         position_.epochs,
                         position_.stopped ? ", where a callback ended the fit" : "",
                         options.epochs);
        }
    }
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
    [[gnu::cold]] void set_groups() {
        std::vector<ir::update_group> groups;
        for (size_t i = 0; i < std::size(training_plan.parameters); ++i) {
            bool const is_frozen = !frozen_.empty() && frozen_[i] != 0;
            groups.push_back(is_frozen ? ir::no_group : group_of(training_plan.parameters[i]));
        }
        replicas_.set_groups(groups);
    }
    ir::update_group group_of([[maybe_unused]] ir::placed_parameter const& p) const {
        if constexpr (detail::has_groups<Optimizer>) {
            return ir::update_group(optimizer_.group_of(p.name.text()));
        } else {
            return 0;
        }
    }
    [[gnu::cold]] void begin_groups() {
        std::vector<int> members(Optimizer::group_count, 0);
        for (ir::placed_parameter const& p : training_plan.parameters) {
            members[size_t(group_of(p))] += p.trainable;
        }
        for (size_t i = 0; i + 1 < members.size(); ++i) {
            if (members[i] == 0) {
                throw error({"castnet: compile: of the parameter groups ", optimizer_.group_names(),
                             ", number ", i,
                             " has no trained parameter: none has such a name, or all of them "
                             "belong to a group before; the network's first is '",
                             training_plan.parameters[0].name.text(), "'"});
            }
        }
        set_groups();
    }

    [[gnu::cold]] void set_frozen(char const* call, std::string_view pattern, bool freezes) {
        std::vector<unsigned char> flags = frozen_;
        flags.resize(std::size(training_plan.parameters));
        bool found = false;
        std::string known;
        for (size_t i = 0; i < flags.size(); ++i) {
            ir::placed_parameter const& p = training_plan.parameters[i];
            if (p.trainable && detail::matches(pattern, p.name.text())) {
                flags[i] = freezes;
                found = true;
            } else if (p.trainable) {
                append(known, {known.empty() ? "" : ", ", p.name.text()});
            }
        }
        if (!found) {
            throw error({"castnet: ", call, ": no trained parameter has a name such as '", pattern,
                         "'; there are ", known});
        }
        set_frozen(std::move(flags));
    }

    template <class Data>
    [[gnu::cold]] static void give_hints(Data const& data) {
        if constexpr (requires { requires device::executor::in_host_memory; }) {
            detail::hint_at_optimisation(detail::is_optimised);
            detail::hint_at_spinning(detail::threads_spin, cpu::thread_count());
        }
        detail::hint_at_scale(training_plan, data, std::make_index_sequence<Data::input_count>{});
    }

    // At the begin of an epoch, or within it behind a restart.
    void begin_epoch() {
        epoch_start_ = detail::monotonic_seconds() - position_.seconds;
        replicas_.set_totals(position_.sums);
    }

    // Throws castnet::error, or warns, where the loss of the epoch's steps so far is not finite.
    void check_loss(sums_type const& s, size_t step) {
        loss_watch_.check_steps(s, step, position_.epochs + 1);
    }
    // For the bar, which only rank 0 has: of several processes, it must not be the only one to end.
    scores_type totals_to_show(size_t step) {
        sums_type const s = replicas_.totals();
        if constexpr (replicas_type::is_single && !replicas_type::totals_at_hand) {
            check_loss(s, step);
        }
        return {s, metrics_};
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

    [[gnu::cold]] static Optimizer checked(Optimizer const& o) {
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

    [[gnu::cold]] static void check_fit(size_t samples, fit_options<training> const& options) {
        check_samples("fit", samples);
        if (options.validation.has_value()) {
            check_samples("fit: validation", options.validation.size());
        }
        if (options.epochs < 0) {
            throw error({"castnet: fit: ", options.epochs, " epochs, expected a number from 0"});
        }
    }
    [[gnu::cold]] static void check_samples(char const* call, size_t size) {
        if (size == 0) {
            throw error({"castnet: ", call, ": the data set holds no sample"});
        }
    }

    // Appends the epoch's row to the history, in the order of column_names(), and writes the
    // checkpoint.
    [[gnu::cold]] void end_epoch(fit_options<training> const& options, progress& bar, size_t steps,
                                 double waited) {
        scores_type const trained{replicas_.totals(), metrics_};
        check_loss(trained, steps);
        double const seconds = detail::monotonic_seconds() - epoch_start_;
        std::vector<double> row;
        auto const add = [&](scores_type const& s) {
            for (size_t i = 0; i < scores_type::count; ++i) {
                row.push_back(s.result(i));
            }
        };
        add(trained);
        std::string shown;
        if (options.validation.has_value()) {
            scores_type const validated = options.validation.evaluate(*this);
            loss_watch_.check_validation(validated, position_.epochs + 1);
            add(validated);
            shown = progress::means(validated, "val_");
        }
        row.push_back(position_.rate);
        row.push_back(seconds);
        row.push_back(waited);
        history_.append(row);
        bar.end(trained, shown);
        ++epochs_;
        ++position_.epochs;
        position_.samples = 0;
        position_.sums = {};
        position_.seconds = 0;
        position_.callback_pending = !options.callbacks.empty() || options.on_epoch_end;
        if (options.checkpoint.write) {
            options.checkpoint.write();
        }
    }

    // Tells callbacks of an epoch. That they have ended the fit, or seen its last epoch, is written
    // down.
    [[gnu::cold]] void report_epoch(fit_options<training> const& options, bool again) {
        epoch_report report{int(position_.epochs), history_, again, rank()};
        for (callback const& each : options.callbacks) {
            each.end_epoch(report);
        }
        if (options.on_epoch_end) {
            options.on_epoch_end(report);
        }
        bool const stop = replicas_.any(report.stop);
        bool const was_pending = replicas_.of_first(position_.callback_pending);
        position_.callback_pending = false;
        position_.stopped = stop;
        bool const last = stop || position_.epochs >= size_t(options.epochs);
        if (options.checkpoint.write && was_pending && last) {
            options.checkpoint.write();
        }
    }

    [[gnu::cold]] static std::vector<std::string> column_names(bool validation) {
        std::vector<std::string> names;
        for (char const* prefix : {"", "val_"}) {
            for (size_t i = 0; i < scores_type::count && (*prefix == 0 || validation); ++i) {
                names.push_back(string_of({prefix, scores_type::names[i]}));
            }
        }
        for (char const* name : {"learning_rate", "seconds", "waiting"}) {
            names.push_back(name);
        }
        return names;
    }

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
    bool fitting_ = false;
    loss_watch loss_watch_{};
    std::vector<unsigned char> frozen_; // parameters of the plan, as flags; empty: none
};

// The step of a model: its loss (nn/losses.hpp or one's own), optimizer and metrics. The training
// refers to the model, which must outlive it. It has the model to itself during fit(), step(),
// evaluate() and load(): they throw castnet::error while another thread trains, predicts or sets
// parameters, and so does that while they run; callbacks are calls of the training's own thread.
template <class Model, class Loss, class Optimizer, class... Metrics>
auto compile(Model& m, Loss loss, Optimizer const& o, Metrics... metrics) {
    constexpr auto mistake = detail::mistake_in_compile<Model, Loss, Optimizer, Metrics...>();
    if constexpr (mistake == detail::compile_mistake::none) {
        return training<Model, Loss, Optimizer, Metrics...>{m, loss, o, metrics...};
    } else {
        return refused_training<arguments_of_compile<mistake, Loss, Optimizer, Metrics...>>{};
    }
}

} // namespace castnet
