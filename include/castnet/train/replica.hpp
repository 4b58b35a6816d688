// What one device holds and does in a training: the memory of a step, and the passes over it. The
// loops that decide which samples and how fast are in train/training.hpp.
#pragma once

#include <castnet/comm/collective.hpp>
#include <castnet/optim/optimizers.hpp>
#include <castnet/plan/communication.hpp>
#include <castnet/train/feed.hpp>
#include <castnet/train/model.hpp>
#include <castnet/train/scores.hpp>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace castnet {

template <class Model, class Loss, class Optimizer, class... Metrics>
class replica {
    using device = typename Model::device;
    using T = typename Model::value_type;
    using recipe = detail::step_recipe<Loss, Metrics...>;
    using network = typename Model::network_type;
    static constexpr size_t capacity = Model::capacity;

public:
    using scores_type = scores<Metrics...>;
    using first_output = detail::nth_of<0, typename Model::output_shapes>;

    static constexpr auto const& training_plan =
        detail::program_of<recipe, network, device, capacity, true>::value;
    static constexpr auto const& evaluation_plan =
        detail::program_of<recipe, network, device, capacity, false>::value;

    // Bytes of its memory; the parameters are the model's.
    static constexpr size_t gradient_bytes =
        size_t(training_plan.elements(region::gradients)) * sizeof(T);
    static constexpr size_t optimizer_bytes = gradient_bytes * size_t(Optimizer::slots);
    static constexpr size_t batch_bytes =
        size_t(std::max(training_plan.elements(region::batch),
                        evaluation_plan.elements(region::batch))) *
        sizeof(T);
    static constexpr size_t workspace_bytes =
        size_t(std::max(training_plan.elements(region::workspace),
                        evaluation_plan.elements(region::workspace))) *
        sizeof(T);
    static constexpr executor_sizes sizes{
        std::ptrdiff_t(gradient_bytes / sizeof(T)), std::ptrdiff_t(optimizer_bytes / sizeof(T)),
        std::ptrdiff_t(batch_bytes / sizeof(T)), std::ptrdiff_t(workspace_bytes / sizeof(T))};
    static constexpr size_t arena_bytes = device::executor::bytes(sizes);

    // Tells programs apart that would not understand each other, in words and as a number.
    static std::string signature() {
        std::uint64_t hash = 14695981039346656037ULL; // FNV-1a
        auto const take = [&](std::uint64_t x) { hash = (hash ^ x) * 1099511628211ULL; };
        for (step const& s : training_plan.steps) {
            array_ref const& r = training_plan.arrays[s.output];
            take(std::uint64_t(s.kind));
            take(std::uint64_t(s.flops));
            take(std::uint64_t(r.where) << 60 ^ std::uint64_t(r.offset));
        }
        std::string names = scores_type::names[0];
        for (size_t i = 1; i < scores_type::count; ++i) {
            names += std::string(", ") + scores_type::names[i];
        }
        char number[32];
        std::snprintf(number, sizeof number, "%016llx", static_cast<unsigned long long>(hash));
        return std::to_string(training_plan.trainable) + " trained numbers of " +
               std::to_string(sizeof(T)) + " bytes, batches of " + std::to_string(capacity) + ", " +
               Optimizer::name + ", " + names + ", plan " + number;
    }

    // `parameters` lie in the model's order, on the session's device.
    replica(Model& m, typename device::session& session, T* parameters)
        : session_{session}, executor_{session, parameters, key_of(m.seed_value()), sizes} {}
    replica(replica const&) = delete;
    replica& operator=(replica const&) = delete;

    size_t allocated_bytes() const { return executor_.allocated_bytes(); }

    // Puts samples of the data into the memory of a plan; returns what they weigh. Throws
    // castnet::error if there are more than the batch's capacity.
    template <auto const& Plan, class Data>
    detail::batch_weight fill(Data const& data, std::span<size_t const> samples,
                              std::span<float const> class_weight = {}) {
        return fill<Plan>(data, samples, 0, samples.size(), class_weight, {});
    }
    // The same of those samples of a step, from `first` on, that this replica computes; `present`
    // counts those of all replicas.
    template <auto const& Plan, class Data>
    detail::batch_weight fill(Data const& data, std::span<size_t const> step, size_t first,
                              size_t count, std::span<float const> class_weight,
                              std::optional<size_t> present) {
        std::span<size_t const> const samples = step.subspan(first, count);
        if (samples.size() > capacity) {
            throw error("castnet: a step of at most " + std::to_string(capacity) +
                        " samples was given " + std::to_string(samples.size()));
        }
        using target = typename detail::target_of<Loss, first_output>::type;
        detail::check_inputs<network, Data>();
        detail::check_target<Loss, first_output, target, Data>();
        samples_ = std::ptrdiff_t(samples.size());
        size_t const rows = device::whole_batches && !step.empty() ? capacity : samples.size();
        return detail::fill_batch<device, typename network::inputs, target>(
            Plan, executor_.batch(), data, samples, rows, step.empty() ? 0 : step[0], class_weight,
            present);
    }

    // What samples weigh, here or on other replicas.
    template <class Data>
    static detail::batch_weight weigh(Data const& data, std::span<size_t const> samples,
                                      std::span<float const> class_weight) {
        using target = typename detail::target_of<Loss, first_output>::type;
        return detail::weigh<target, T>(data, samples, class_weight);
    }

    // One step with what fill() put there: forward, backward, and the optimizer's rule applied to
    // all gradients, divided by the sum of weights. `step` numbers the random numbers of dropout.
    template <class Rule>
    void train(std::uint64_t step, Rule const& rule, double weight) {
        last_scale_ = T(1 / weight);
        executor_.template train<training_plan, Optimizer::slots>(samples_, step, rule,
                                                                  last_scale_);
        weight_ += weight;
    }

    // The same together with other replicas, from sample `first` of their batch on: what the plan
    // sums over samples, it sums over those of all. `weight` is that of the whole batch. With sums
    // in the memory of GPUs, totals() are those of all replicas, too.
    template <class Communicator, class Rule>
    void train_with(Communicator& others, size_t first, std::uint64_t step, Rule const& rule,
                    double weight) {
        executor_.set_first_sample(std::uint32_t(first));
        last_scale_ = T(1 / weight);
        if constexpr (requires { others.gpus(); }) {
            executor_.template train_with<training_plan, Optimizer::slots>(others, step, rule,
                                                                           last_scale_);
            weight_ += weight;
        } else {
            train_through_host(others, step, rule);
        }
    }

    void evaluate(double weight) {
        executor_.template evaluate<evaluation_plan>(samples_);
        weight_ += weight;
    }

    // Forward and backward only; calls after(i) when step i of the plan has ended.
    template <class After>
    void observe(std::uint64_t step, After const& after) {
        executor_.template run<training_plan>(samples_, step, after);
    }

    // Sums of loss and metrics over all that was trained and evaluated since they were set. To ask
    // is to wait for the device.
    scores_type totals() const {
        scores_type s;
        s.weight = weight_;
        executor_.read_totals(s.sum, scores_type::count);
        return s;
    }
    void set_totals(scores_type const& s) {
        weight_ = s.weight;
        executor_.set_totals(s.sum, scores_type::count);
    }

    // What replicas have in common, the parameters and what the optimizer keeps, becomes that of
    // rank 0.
    template <class Communicator>
    void take_from_first(Communicator& others) {
        take_from_first(others, {region::parameters, 0, training_plan.elements(region::parameters)},
                        {"broadcast of parameters"});
        take_from_first(others,
                        {region::gradients, training_plan.trainable,
                         std::ptrdiff_t(optimizer_bytes / sizeof(T))},
                        {"broadcast of the optimizer's state"});
    }

    // Of a trained parameter, in logical order: its gradient in the last step, divided by the sum
    // of weights, and the numbers that the optimizer keeps for it.
    std::vector<T> gradient(placed_parameter const& p) const {
        std::vector<T> g = detail::read_parameter<device>(session_, gradients(), p);
        for (T& x : g) {
            x *= last_scale_;
        }
        return g;
    }
    std::vector<T> slot(int which, placed_parameter const& p) const {
        return detail::read_parameter<device>(session_, slots(which), p);
    }
    void set_slot(int which, placed_parameter const& p, std::span<T const> values) {
        detail::write_parameter<device>(session_, slots(which), p, values);
    }

private:
    // The sums over replicas are those of messages in the host's memory.
    template <class Communicator, class Rule>
    void train_through_host(Communicator& others, std::uint64_t step, Rule const& rule) {
        using exchanges = communication_of<training_plan, sizeof(T)>;
        int next = 0, buckets = 0, sums = 0;
        auto const exchange_until = [&](int i) {
            for (; next < exchanges::exchange_count; ++next) {
                exchange const& e = exchanges::value.exchanges[next];
                if (e.after > i) {
                    break;
                }
                add_up(others, size_t(next),
                       std::span{exchanges::value.ranges + e.first, size_t(e.last - e.first)},
                       {e.gradients ? "sum of gradients, bucket" : "sum over the batch",
                        e.gradients ? buckets++ : sums++, step});
            }
        };
        executor_.template run<training_plan>(samples_, step, after_stages{exchange_until});
        executor_.template update<training_plan, Optimizer::slots>(rule, last_scale_);
        executor_.template add_totals<training_plan>();
    }
    template <class Communicator>
    void add_up(Communicator& others, size_t message, std::span<element_range const> ranges,
                comm::collective const& at) {
        others.sum(executor_.message(message, ranges), at);
        executor_.accept(message, ranges);
    }
    template <class Communicator>
    void take_from_first(Communicator& others, element_range const& range,
                         comm::collective const& at) {
        if constexpr (requires { others.gpus(); }) {
            executor_.take_from_first(others, range, at);
        } else {
            std::span<element_range const> const ranges{&range, 1};
            others.broadcast(std::as_writable_bytes(executor_.message(0, ranges)), at);
            executor_.accept(0, ranges);
        }
    }

    T* gradients() const { return executor_.at(region::gradients); }
    T* slots(int which) const { return gradients() + (1 + which) * training_plan.trainable; }

    typename device::session& session_;
    typename device::executor executor_;
    std::ptrdiff_t samples_ = 0; // of the batch
    double weight_ = 0;          // of what the totals sum
    T last_scale_ = 0;
};

} // namespace castnet
