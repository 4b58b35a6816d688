// Replica: the memory of a training step on one device, and its passes. The loops over samples and
// the learning rates are in train/training.hpp.
#pragma once

#include <castnet/comm/collective.hpp>
#include <castnet/core/error.hpp>
#include <castnet/device/host_memory.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/train/class_weight.hpp>
#include <castnet/train/collate.hpp>
#include <castnet/train/data_contract.hpp>
#include <castnet/train/device_dataset.hpp>
#include <castnet/train/host_step.hpp>
#include <castnet/train/model.hpp>
#include <castnet/train/scores.hpp>
#include <castnet/train/sharded_state.hpp>
#include <castnet/train/step_plans.hpp>

#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace castnet {

template <class Model, class Loss, class Optimizer, class... Metrics>
class replica : public step_plans<Model, Loss, Optimizer, Metrics...> {
    using plans = step_plans<Model, Loss, Optimizer, Metrics...>;
    using plans::capacity;
    using plans::sizes;
    using typename plans::device;
    using typename plans::network;
    using typename plans::rule_type;
    using typename plans::T;

public:
    using plans::evaluation_plan;
    using plans::on_gpus;
    using plans::optimizer_bytes;
    using plans::trained;
    using plans::training_plan;
    using typename plans::exchanges;
    using typename plans::scalars;
    using typename plans::strategies;
    using typename plans::sums_type;
    using typename plans::targets;

    // One of `replicas` replicas; `parameters` lie in the model's order, on the session's device.
    // `numbers` are the scalars of loss and metrics.
    template <class Parameters>
    replica(Model& m, typename device::session& session, Parameters parameters,
            scalars const& numbers, int replicas = 1)
        : session_{session}, scalars_{numbers}, step_{replicas},
          executor_{session, parameters, key_of(m.seed_value()), sizes(replicas)},
          slot_elements_{exchanges::slot_elements(replicas)} {
        executor_.template prepare<rule_type, training_plan(), evaluation_plan()>(
            Model::parameter_bytes);
    }
    replica(replica const&) = delete;
    replica& operator=(replica const&) = delete;

    size_t allocated_bytes() const { return executor_.allocated_bytes(); }

    // Copies samples of the data into a plan's batch memory; returns their weight. Throws
    // castnet::error if there are more than the batch's capacity.
    template <auto const& Plan, class Data>
    detail::batch_weight collate(Data const& data, std::span<size_t const> samples,
                                 std::span<float const> class_weight = {}) {
        return collate<Plan>(data, samples, 0, samples.size(), class_weight, {});
    }
    // The same for this replica's samples of a step, `count` from `first` on; `present` counts
    // those of all replicas.
    template <auto const& Plan, class Data>
    detail::batch_weight collate(Data const& data, std::span<size_t const> step, size_t first,
                                 size_t count, std::span<float const> class_weight,
                                 std::optional<size_t> present) {
        std::span<size_t const> const samples = step.subspan(first, count);
        if (samples.size() > capacity) {
            throw error({"castnet: a step of at most ", quantity(capacity, "sample"), " was given ",
                         samples.size()});
        }
        detail::check_inputs<network, Data>();
        detail::check_targets<targets, data::targets_of<Data>>();
        samples_ = std::ptrdiff_t(samples.size());
        size_t const rows = device::whole_batches && !step.empty() ? capacity : samples.size();
        size_t const padding = step.empty() ? 0 : step[0];
        T* const batch = executor_.batch();
        auto const* given = Plan.given;
        for (double const x : scalars_) {
            batch[*given++] = T(x);
        }
        if constexpr (constexpr auto of_loss = detail::weighing_in<Loss>::of_classes;
                      of_loss.count > 0) {
            for (size_t i = 0; i < class_weight.size(); ++i) {
                batch[Plan.given[of_loss.first + i]] = T(class_weight[i]);
            }
        }
        constexpr detail::batch_layout layout = detail::batch_layout_of(Plan);
        if constexpr (keeps<Data>) {
            std::uint32_t* const numbers = executor_.gather_from(kept(data).arrays());
            return detail::collate_indices(layout, batch, numbers, data, samples, rows, padding,
                                           class_weight, present);
        } else {
            return detail::collate<typename network::inputs, targets,
                                   detail::probabilities_of_step<Loss, targets>>(
                layout, batch, data, samples, rows, padding, class_weight, present);
        }
    }

    // The indices of `count` samples from `first` on; valid until the next call, which allocates
    // only for more of them.
    std::span<size_t const> numbers(size_t first, size_t count) {
        numbers_.resize(count);
        std::iota(numbers_.begin(), numbers_.end(), first);
        return numbers_;
    }

    // Copies a device-resident data set to the device, or allocates memory for one that changes in
    // every epoch. Throws castnet::error if the device's memory is too small.
    template <class Data>
    void keep(Data const& data) {
        if constexpr (keeps<Data> && data::ReadByEpochs<Data>) {
            data.template allocate_on<stored>(session_.index(),
                                              [&] { return stored{session_, data}; });
        } else if constexpr (keeps<Data>) {
            kept(data);
        }
    }

    // The weight of samples, of this or other replicas.
    template <class Data>
    static detail::batch_weight weigh(Data const& data, std::span<size_t const> samples,
                                      std::span<float const> class_weight) {
        return detail::weigh<T>(data, samples, class_weight);
    }

    // One step with the collated samples: forward, backward, and the optimizer's rule applied to
    // all gradients, divided by the sum of weights. `step` selects dropout's random numbers.
    template <class Rule>
    void train(std::uint64_t step, Rule const& rule, double weight) {
        last_scale_ = T(1 / weight);
        executor_.template train<training_plan(), Optimizer::slots>(samples_, step, rule,
                                                                    last_scale_);
        weight_ += weight;
    }

    // Forward and backward with the collated samples, which are one of the batches of a step, from
    // its sample `first` on; with the last of them the update. `weight` is the whole step's.
    template <class Rule>
    void train_batch(size_t first, bool is_first, bool is_last, std::uint64_t step,
                     Rule const& rule, double weight) {
        static constexpr auto kept_at = std::ptrdiff_t(exchanges::kept_at(1));
        static constexpr ir::element_range gradients{ir::region::gradients, 0,
                                                     training_plan().trainable};
        executor_.set_first_sample(std::uint32_t(first));
        executor_.template run<training_plan()>(samples_, step);
        executor_.template add_totals<training_plan()>();
        if (!is_last) {
            executor_.keep_gradients(kept_at, gradients, is_first);
            return;
        }
        if (!is_first) {
            executor_.take_kept(kept_at, gradients);
        }
        last_scale_ = T(1 / weight);
        executor_.template update<training_plan(), Optimizer::slots>(with_norm(rule), last_scale_);
        weight_ += weight;
    }

    // One step together with other replicas: forward and backward with the collated samples, which
    // are this replica's, and with the last ones of the step the update. `weight` is the whole
    // step's. The plan's sums over samples are over those of all replicas; so are totals() where
    // sums are made in the memory of GPUs.
    template <class Communicator, class Rule>
    void train_with(Communicator& others, samples_of_step const& now, std::uint64_t step,
                    Rule const& rule, double weight) {
        last_scale_ = T(1 / weight);
        step_.train(executor_, others, now, step, rule, last_scale_);
        if constexpr (step_engine::sums_totals) {
            weight_ += now.is_last ? weight : 0;
        }
    }

    // Keeps what batches of a step change before its update, running statistics and totals, in case
    // the samples of a later one cannot be read; and brings it back.
    void keep_statistics() { executor_.template keep_statistics<training_plan()>(); }
    void bring_back_statistics() { executor_.template bring_back_statistics<training_plan()>(); }

    // By which rule of the optimizer each of the training plan's parameters is updated from now on.
    void set_groups(std::span<ir::update_group const> groups) {
        executor_.template set_groups<training_plan()>(groups);
    }

    // Evaluates the collated samples, those of this batch of all replicas from `first` on.
    void evaluate(double weight, std::uint64_t batch, size_t first) {
        executor_.set_first_sample(std::uint32_t(first));
        executor_.template evaluate<evaluation_plan()>(samples_, batch);
        weight_ += weight;
    }
    // For a replica without samples in an evaluation of which others have some.
    void evaluate_nothing() {
        if constexpr (on_gpus) {
            executor_.template evaluate_nothing<evaluation_plan()>();
        }
    }

    // Waits for work that was put on a GPU. If that waits for other replicas in vain, its
    // connection to them has failed then.
    void end_work() noexcept {
        if constexpr (on_gpus) {
            try {
                session_.wait();
            } catch (error const&) {
                return; // nobody has asked for results
            }
        }
    }

    // Forward and backward only; calls after(i) once launch i of the plan has run.
    template <class After>
    void observe(std::uint64_t step, After const& after) {
        executor_.template run<training_plan()>(samples_, step, after);
        if constexpr (on_gpus) {
            executor_.skip(); // twice, as other replicas do not run at all
        }
    }

    // Sums of loss and metrics over all samples trained and evaluated since set_totals(). Waits for
    // the device.
    sums_type totals() const {
        sums_type s;
        s.weight = weight_;
        executor_.read_totals(s.sum, sums_type::sums);
        return s;
    }
    void set_totals(sums_type const& s) {
        weight_ = s.weight;
        executor_.set_totals(s.sum, sums_type::sums);
    }

    // Broadcasts the parameters and the optimizer state of rank 0.
    template <class Communicator>
    void take_from_first(Communicator& others) {
        take_from_first(
            others, {ir::region::parameters, 0, training_plan().elements(ir::region::parameters)},
            {"broadcast of parameters"});
        if constexpr (strategies::sharded_optimizer) {
            whole_state_.scatter(session_, others, [&](int k) { return slots_of_shard(k); });
        } else {
            take_from_first(others,
                            {ir::region::gradients, training_plan().trainable,
                             std::ptrdiff_t(optimizer_bytes / sizeof(T))},
                            {"broadcast of the optimizer's state"});
        }
    }

    // With a sharded optimizer, slot() and set_slot() access a copy of the whole state, which
    // collect_state() gathers from all shards and take_from_first() scatters, if rank 0 has one.
    template <class Communicator>
    void collect_state(Communicator& others) {
        whole_state_.gather(session_, others, [&](int k) { return slots_of_shard(k); });
    }
    void forget_whole_state() { whole_state_.forget(); }

    // A trained parameter's values in logical order: its gradient in the last step, divided by the
    // sum of weights, and its optimizer state. Throws castnet::error before the first step.
    std::vector<T> gradient(ir::placed_parameter const& p) const {
        if (last_scale_ == 0) {
            throw error("castnet: gradient: there is none before the first step of the training");
        }
        std::vector<T> g = detail::read_parameter<device>(session_, gradients(), p);
        for (T& x : g) {
            x *= last_scale_;
        }
        return g;
    }
    std::vector<T> slot(int which, ir::placed_parameter const& p) const {
        if constexpr (strategies::sharded_optimizer) {
            return detail::read_parameter<device>(ir::host_memory{}, whole_state_.slot(which), p);
        } else {
            return detail::read_parameter<device>(session_, slots_of_shard(which), p);
        }
    }
    void set_slot(int which, ir::placed_parameter const& p, std::span<T const> values) {
        if constexpr (strategies::sharded_optimizer) {
            detail::write_parameter<device>(ir::host_memory{}, whole_state_.slot(which), p, values);
        } else {
            detail::write_parameter<device>(session_, slots_of_shard(which), p, values);
        }
    }

private:
    using step_engine = typename exchanging_step_of<device, exchanges, on_gpus>::type;
    static_assert(ExchangingStep<step_engine>);

    // A device with its own memory defines stored_array. (Several such get samples from the host.)
    template <class Data>
    static constexpr bool keeps = data::is_on_device<Data> && !ir::SeparateDevices<device> &&
                                  requires { typename device::stored_array; };

    using stored = detail::device_dataset<device, typename network::inputs, targets>;

    template <class Data>
    auto const& kept(Data const& data) {
        return data.template filled_on<stored>(
            session_.index(), [&] { return stored{session_, data}; },
            [&](stored& copy) {
                copy.fill(session_, data, [&](auto const& body) { executor_.launch_body(body); });
            });
    }

    template <class Communicator>
    void take_from_first(Communicator& others, ir::element_range const& range,
                         comm::collective const& at) {
        if constexpr (requires { others.gpus(); }) {
            executor_.take_from_first(others, range, at);
        } else {
            std::span<ir::element_range const> const ranges{&range, 1};
            others.broadcast(std::as_writable_bytes(executor_.message(0, ranges)), at);
            executor_.accept(0, ranges);
        }
    }

    template <class Rule>
    Rule with_norm(Rule const& rule) {
        if constexpr (NeedsNorm<Rule>) {
            return rule.with_norm(std::sqrt(executor_.template squares<training_plan()>(
                last_scale_, 0, training_plan().trainable)));
        } else {
            return rule;
        }
    }

    auto gradients() const { return executor_.at(ir::region::gradients); }
    auto slots_of_shard(int which) const {
        return gradients() + std::ptrdiff_t(trained + size_t(which) * slot_elements_);
    }

    typename device::session& session_;
    scalars scalars_;
    step_engine step_; // outlives the executor, whose end waits for the step's work
    typename device::executor executor_;
    std::ptrdiff_t samples_ = 0; // of the batch
    double weight_ = 0;          // of the samples in the totals
    T last_scale_ = 0;
    size_t slot_elements_;
    detail::sharded_state<exchanges, T, Optimizer::slots> whole_state_{trained};
    std::vector<size_t> numbers_; // indices of evaluated samples
};

} // namespace castnet
