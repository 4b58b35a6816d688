// What one device holds and does in a training: the memory of a step, and the passes over it. The
// loops that decide which samples and how fast are in train/training.hpp.
#pragma once

#include <castnet/optim/optimizers.hpp>
#include <castnet/train/feed.hpp>
#include <castnet/train/model.hpp>
#include <castnet/train/scores.hpp>

#include <algorithm>
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

    replica(Model& m)
        : session_{m.session()}, executor_{session_, m.data(), key_of(m.seed_value()), sizes} {}
    replica(replica const&) = delete;
    replica& operator=(replica const&) = delete;

    size_t allocated_bytes() const { return executor_.allocated_bytes(); }

    // Puts samples of the data into the memory of a plan; returns the sum of their weights. Throws
    // castnet::error if there are more than the batch's capacity.
    template <auto const& Plan, class Data>
    double fill(Data const& data, std::span<size_t const> samples,
                std::span<float const> class_weight = {}) {
        if (samples.size() > capacity) {
            throw error("castnet: a step of at most " + std::to_string(capacity) +
                        " samples was given " + std::to_string(samples.size()));
        }
        using target = typename detail::target_of<Loss, first_output>::type;
        detail::check_inputs<network, Data>();
        detail::check_target<Loss, first_output, target, Data>();
        samples_ = std::ptrdiff_t(samples.size());
        size_t const rows = device::whole_batches ? capacity : samples.size();
        return detail::fill_batch<device, typename network::inputs, target>(
            Plan, executor_.batch(), data, samples, rows, class_weight);
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
    T* gradients() const { return executor_.at(region::gradients); }
    T* slots(int which) const { return gradients() + (1 + which) * training_plan.trainable; }

    typename device::session& session_;
    typename device::executor executor_;
    std::ptrdiff_t samples_ = 0; // of the batch
    double weight_ = 0;          // of what the totals sum
    T last_scale_ = 0;
};

} // namespace castnet
