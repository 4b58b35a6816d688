// Training of a model, as compile(model, loss, optimizer, metrics…) makes it: fit(), evaluate(),
// and step() for loops of one's own.
#pragma once

#include <castnet/core/called_otherwise.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/core/name_argument.hpp>
#include <castnet/data/detail/sample_numbers.hpp>
#include <castnet/data/epoch.hpp>
#include <castnet/data/is_dataset.hpp>
#include <castnet/data/shuffle.hpp>
#include <castnet/train/class_weight.hpp>
#include <castnet/train/fit_loop.hpp>
#include <castnet/train/parameter_groups.hpp>
#include <castnet/train/statistics_pass.hpp>
#include <castnet/train/training_arguments.hpp>
#include <castnet/train/training_state.hpp>

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace castnet {

template <class Model, class Loss, class Optimizer, class... Metrics>
class training : public training_state<Model, Loss, Optimizer, Metrics...> {
    using state = training_state<Model, Loss, Optimizer, Metrics...>;
    using state::begin_averages_of_frozen;
    using state::epochs_;
    using state::frozen_;
    using state::history_;
    using state::metrics_;
    using state::model_;
    using state::optimizer_;
    using state::position_;
    using state::replicas_;
    using state::steps_;
    using typename state::replica_type;
    using typename state::replicas_type;
    using typename state::T;

public:
    using state::set_frozen;
    using state::training_plan;
    using typename state::scores_type;
    using typename state::strategies;
    using typename state::sums_type;

    using value_type = T;
    using device = typename Model::device;
    using loss_type = Loss;
    using optimizer_type = Optimizer;

    static constexpr auto const& evaluation_plan() { return replica_type::evaluation_plan(); }
    static auto evaluate_plans() { replica_type::evaluate_plans(); }

    static constexpr bool has_processes = replicas_type::has_processes;
    using exchanges = typename replica_type::exchanges;

    // Memory in bytes of each replica: what training adds to the parameters, and both together. (An
    // upper bound for a sharded optimizer: its share shrinks with the number of processes, which is
    // known at run time only.)
    static constexpr size_t gradient_bytes = replica_type::gradient_bytes;
    static constexpr size_t optimizer_bytes = replica_type::optimizer_bytes;
    static constexpr size_t batch_bytes = replica_type::batch_bytes;
    static constexpr size_t workspace_bytes = replica_type::workspace_bytes;
    static constexpr size_t executor_bytes = replica_type::executor_bytes;
    static constexpr size_t bytes = Model::parameter_bytes + executor_bytes;

    // Bytes of one device of policy::model_parallel: its parameters, with gradients and optimizer
    // state, and the workspace of its part of a training step; without the batch.
    static constexpr size_t device_bytes(int number) {
        ir::device_memory const& here = training_plan().devices[number];
        return sizeof(T) * size_t(here.trained.count * (2 + Optimizer::slots) + here.others.count +
                                  here.workspace.count);
    }

    // Floating-point operations of a training step for one sample, without the optimizer.
    static constexpr std::ptrdiff_t flops_per_sample = training_plan().flops();

    // Throws castnet::error where a number of the optimizer, the loss or a metric is out of its
    // range or not finite; and on all processes of a policy with several if they differ in
    // anything that their programs decide, or in these numbers.
    training(Model& m, Loss const& loss, Optimizer const& o, Metrics const&... metrics)
        : state{m, loss, o, metrics...} {
        static_assert(fits_budget<bytes, Model::policy_type::budget>::checked);
    }

    // The same with the numbers of loss and metrics that they have by default.
    training(Model& m, Optimizer const& o) : training{m, Loss{}, o, Metrics{}...} {}

    // (Compilers show this line.)
    training(training const&) = delete; // castnet: pass a training as training&, auto&

    // Allocated bytes: equal to `bytes`, except with a sharded optimizer on several processes.
    size_t allocated_bytes() const {
        return replicas_.first().allocated_bytes() + Model::parameter_bytes;
    }

    // The number of replicas in all processes, which share the samples of every step, and the most
    // samples of a step.
    int replica_count() const { return replicas_.size(); }
    size_t step_capacity() const { return replicas_.step_capacity(); }

    // One update from these samples of the data, at most step_capacity(); returns loss and metrics
    // before the update. The learning rate, finite and not negative, is the optimizer's own if none
    // is given. Samples of weight 0 are as if they were not there; where all are, nothing changes.
    // Data that change with the epoch do so where a data::epoch_scope is around the steps of each.
    // Throws castnet::error within fit(), and if the processes of a policy with several do not give
    // the same.
    template <data::Dataset<T> Data>
    scores_type step(Data const& data, std::span<size_t const> samples,
                     std::optional<double> learning_rate = {},
                     std::span<float const> class_weight = {}) {
        model_access::exclusive const access{model_.access(), "step"};
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
        detail::check_class_weight<data::targets_of<Data>, Loss>("step", class_weight);
        replicas_.keep(data);
        return totals_of([&] { advance(data, samples, rate, class_weight); });
    }

    // The numbers of the samples in braces: training.step(data, {0, 1, 2}).
    template <data::Dataset<T> Data>
    scores_type step(Data const& data, std::initializer_list<size_t> samples,
                     std::optional<double> learning_rate = {},
                     std::span<float const> class_weight = {}) {
        return step(data, std::span{samples.begin(), samples.size()}, learning_rate, class_weight);
    }

    // The same from all samples of the data, as of a batch in tensors:
    // training.step(data::of_tensors(features, targets)).
    template <data::Dataset<T> Data>
    scores_type step(Data const& data) {
        constexpr std::span numbers{
            data::detail::first_sample_numbers<std::min<size_t>(Model::capacity, 4096)>};
        if (data.size() <= numbers.size()) {
            return step(data, numbers.first(data.size()));
        }
        return step(data, data::detail::sample_numbers(data.size()));
    }

    // Runs a forward and backward pass over these samples that changes nothing, and calls after(-1)
    // before it and after(i) when launch i of training_plan has run, maybe in several parts: see
    // train/profile.hpp.
    template <class Data, class After>
    void observe(Data const& data, std::span<size_t const> samples, After const& after) {
        model_access::exclusive const access{model_.access(), "observe"};
        std::vector<std::vector<T>> statistics; // a pass moves running statistics on
        for (ir::placed_parameter const& p : training_plan().parameters) {
            statistics.push_back(p.trainable ? std::vector<T>{} : model_.get(p.name.text()));
        }
        replicas_.first().template collate<training_plan()>(data, samples);
        after(-1);
        replicas_.first().observe(steps_, after);
        for (size_t i = 0; i < statistics.size(); ++i) {
            if (!statistics[i].empty()) {
                model_.set(training_plan().parameters[i].name.text(), statistics[i]);
            }
        }
    }

    // From now on leaves the parameters whose names match the pattern as they are, or trains them
    // again; * stands for any characters ("body.*", "*.bias"; PyTorch's requires_grad_(False),
    // Keras' trainable). Their optimizer's state stays as it is, too, and clip_norm() counts the
    // others only. The plan stays: their gradients are computed, which cn::frozen<...>
    // in the network saves; running statistics of batch normalisation go on. Checkpoints have what
    // is frozen. May be called between fits or in their callbacks, in all processes alike. Throws
    // castnet::error if no trained parameter has such a name, or if another thread uses the
    // parameters. Several patterns stand in braces; if one is refused, nothing changes.
    void freeze(name_argument pattern) { freeze({pattern}); }
    void freeze(std::initializer_list<name_argument> patterns) {
        set_frozen("freeze", patterns, true);
    }
    void unfreeze(name_argument pattern) { unfreeze({pattern}); }
    void unfreeze(std::initializer_list<name_argument> patterns) {
        set_frozen("unfreeze", patterns, false);
    }

    // The names of the parameters that freeze() has left as they are.
    std::vector<std::string> frozen() const {
        model_access::shared const access{model_.access(), "frozen"};
        return detail::names_of_frozen(frozen_, training_plan().parameters);
    }

    // Loss and metrics over all samples, with running statistics and without dropout. Throws
    // castnet::error if there is no sample, or none that counts.
    template <data::Dataset<T> Data>
    scores_type evaluate(Data const& data) {
        model_access::exclusive const access{model_.access(), "evaluate"};
        replicas_.agree("evaluate", [&](auto& s) { detail::add_data(s, "the data", data); });
        detail::check_samples("evaluate", data.size());
        replicas_.keep(data);
        scores_type const s = totals_of([&] { replicas_.evaluate(data, epochs_); });
        if (s.weight == 0) {
            throw error("castnet: evaluate: the weight of every sample is 0: none counts");
        }
        return s;
    }

    // Moves the statistics of layers on, as steps with the data in a random order would, and
    // nothing else: the running means and variances of batch_norm for weights that no step has had,
    // such as averages (PyTorch's update_bn). Their previous values fade as in training, by a
    // factor of 1 - momentum in each step: with batch_norm's, 1 % of them is left after 44 steps.
    // Computes no gradients, and takes memory of its own meanwhile: for the forward part of a step,
    // and as much as the trained parameters have.
    // Throws castnet::error if there is no sample, or none that counts.
    template <data::Dataset<T> Data>
    void update_statistics(Data const& data) {
        static_assert(has_statistics<Model>::checked);
        model_access::exclusive const access{model_.access(), "update_statistics"};
        replicas_.agree("update_statistics",
                        [&](auto& s) { detail::add_data(s, "the data", data); });
        detail::check_samples("update_statistics", data.size());
        detail::statistics_replicas<Model, Loss, Optimizer> passes{model_, {}};
        passes.set_groups(
            std::vector<ir::update_group>(training_plan().sizes.parameters, ir::no_group));
        passes.keep(data);
        pass_statistics(passes, data);
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
    // NaN or infinite and that is not allowed; if in an epoch the weight of every sample is 0; if
    // there is no room for data that are on_device();
    // and within a fit of this training, as from a callback. Throws sample_error, with the epoch,
    // for what a data set of the program's own throws.
    template <data::Dataset<T> Data>
    history fit(Data const& data, fit_options<training> const& options = {}) try {
        history h;
        {
            model_access::exclusive const access{model_.access(), "fit"};
            refuse_within_fit("fit");
            detail::fit_loop<training> loop{*this, options};
            loop.check(data);
            {
                fit_scope const within{fitting_};
                loop.run(data);
            }
            position_ = {};
            h = std::exchange(history_, {});
        }
        for (callback const& each : options.callbacks) {
            each.end_fit(h);
        }
        return h;
    } catch (...) {
        for (callback const& each : options.callbacks) {
            each.leave_fit();
        }
        throw;
    }

    // For a type that is no data set: fails with a message.
    template <class Data>
    scores_type step(Data const&, std::span<size_t const>, std::optional<double> = {},
                     std::span<float const> = {}) {
        static_assert(data::is_dataset<Data, T>::checked);
        return {};
    }
    template <class Columns, class Targets, class... More>
        requires(!std::convertible_to<Targets const&, std::span<size_t const>>)
    scores_type step(Columns const&, Targets const&, More const&...) {
        static_assert(step_takes<Columns, Targets>::checked);
        return {};
    }
    template <class Data>
    scores_type evaluate(Data const&) {
        static_assert(data::is_dataset<Data, T>::checked);
        return {};
    }
    template <class Columns, class Targets, class... More>
    scores_type evaluate(Columns const&, Targets const&, More const&...) {
        static_assert(evaluate_takes<Columns, Targets, More...>::checked);
        return {};
    }
    // (Where the options are none, compilers show the line.)
    template <class Data>
    history fit(Data const&, fit_options<training> const& = {}) { // castnet: is an option misspelt?
        static_assert(data::is_dataset<Data, T>::checked);
        return history{{}};
    }

    template <class Data>
    void update_statistics(Data const&) {
        static_assert(data::is_dataset<Data, T>::checked);
    }

    // The same for columns or a number of epochs.
    template <class Data, class Given, class... More>
        requires(!std::same_as<Given, fit_options<training>>)
    history fit(Data const&, Given const&, More const&...) {
        static_assert(fit_takes<Data, Given, More...>::checked);
        return history{{}};
    }
    template <class Columns, class Targets>
    history fit(Columns const&, Targets const&, fit_options<training> const&) {
        static_assert(fit_takes<Columns, Targets>::checked);
        return history{{}};
    }

    // Fail with messages that name the calls to make instead.
    static constexpr detail::called_otherwise<functions_of_trainings> save{}, load{}, summary{};
    static constexpr detail::called_otherwise<rate_of_steps> set_learning_rate{};
    static constexpr detail::called_otherwise<steps_are_whole> backward{}, zero_grad{},
        train_on_batch{}, train_step{}, gradients{};
    template <class Data>
    std::vector<T> predict(Data const&) {
        static_assert(detail::never<Data>, "castnet: it is the model that predicts: "
                                           "model.predict(data), also while it is trained");
        return {};
    }

    // Throws castnet::error where fit() is running, and calls back: `call` would change its steps.
    // The caller has the model's parameters to itself, so that no other thread's fit() is running.
    void refuse_within_fit(char const* call) const {
        if (fitting_) {
            throw error({"castnet: ", call,
                         " was called within fit() of the same training, from "
                         "on_epoch_end, a schedule or a data set; there, evaluate() and save() "
                         "are possible, and report.stop ends the fit"});
        }
    }

    // The gradient of the last step's loss with respect to a parameter, divided by the sum of
    // weights, in logical order; empty for a frozen one. Neither clipping nor the penalties of
    // layers (l1, l2) are in it. Throws castnet::error if there is no parameter of this name,
    // before the first step, or if another thread trains. For tests and for loops of one's own.
    std::vector<T> gradient(name_argument name) const {
        static_assert(!replica_type::strategies::sharded_optimizer,
                      "castnet: with strategy::sharded_optimizer no replica has all gradients");
        model_access::shared const access{model_.access(), "gradient"};
        for (ir::placed_parameter const& p : training_plan().parameters) {
            if (p.trainable && p.name.text() == name) {
                return replicas_.first().gradient(p);
            }
        }
        model_.get(name); // throws where there is none
        return {};
    }

private:
    friend class detail::fit_loop<training>;

    struct fit_scope {
        bool& within;
        explicit fit_scope(bool& flag) : within{flag} { within = true; }
        fit_scope(fit_scope const&) = delete;
        fit_scope& operator=(fit_scope const&) = delete;
        ~fit_scope() { within = false; }
    };

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

    [[gnu::noinline]] void set_frozen(char const* call,
                                      std::initializer_list<name_argument> patterns, bool freezes) {
        model_access::exclusive const access{model_.access(), call};
        detail::frozen_flags flags = frozen_;
        for (name_argument const& pattern : patterns) {
            flags = detail::with_frozen(std::move(flags), training_plan().parameters, call, pattern,
                                        freezes);
        }
        set_frozen(std::move(flags));
    }

    // One step, whose loss and metrics are added to the totals.
    template <class Data>
    void advance(Data const& data, std::span<size_t const> samples, double rate,
                 std::span<float const> class_weight) {
        if (!detail::is_finite_not_negative(rate)) {
            refuse_rate(rate);
        }
        model_.access().refuse_averages("step");
        if constexpr (requires { typename Optimizer::averaged_optimizer; }) {
            if (steps_ == 0 && !frozen_.empty()) {
                begin_averages_of_frozen();
            }
        }
        auto const rule = optimizer_.template at<T>(steps_ + 1, rate);
        steps_ += replicas_.train(data, samples, steps_, rule, class_weight);
    }

    // The steps of an epoch, which do not count as steps.
    template <class Passes, class Data>
    void pass_statistics(Passes& passes, Data const& data) const {
        size_t const capacity = step_capacity();
        std::vector<size_t> order = data::detail::sample_numbers(data.size());
        data::shuffle(order, model_.seed_value(), epochs_, data::shuffle_buffer(data));
        [[maybe_unused]] auto const reading =
            passes.read_epoch(data, epochs_, order, capacity, strategies::micro_batches);
        auto const rule = sgd{}.template at<T>(0, 0);
        std::span<size_t const> left = order;
        bool any = false;
        for (std::uint64_t step = steps_; !left.empty(); ++step) {
            auto const samples = left.first(std::min(capacity, left.size()));
            left = left.subspan(samples.size());
            data::begin_step(data);
            any = passes.train(data, samples, step, rule, {}) || any;
        }
        if (!any) {
            throw error("castnet: update_statistics: the weight of every sample is 0: none counts");
        }
    }

    [[noreturn, gnu::cold]] void refuse_rate(double rate) const {
        throw error({"castnet: the learning rate of step ", steps_ + 1, " is ", rate,
                     ", expected a finite number that is not negative; see the schedule, or the "
                     "rate given to step()"});
    }

    bool fitting_ = false;
};

} // namespace castnet
