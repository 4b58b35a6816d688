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
    static constexpr size_t arena_bytes =
        gradient_bytes + optimizer_bytes + batch_bytes + workspace_bytes;

    replica(T* parameters, philox_key key) : arena_{arena_bytes} {
        T* const start = arena_.template as<T>();
        T* const batch = start + (gradient_bytes + optimizer_bytes) / sizeof(T);
        context_.region[int(region::parameters)] = parameters;
        context_.region[int(region::gradients)] = start;
        context_.region[int(region::batch)] = batch;
        context_.region[int(region::workspace)] = batch + batch_bytes / sizeof(T);
        context_.key = key;
    }
    replica(replica const&) = delete;
    replica& operator=(replica const&) = delete;

    size_t allocated_bytes() const { return arena_.bytes(); }

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
        context_.samples = std::ptrdiff_t(samples.size());
        return detail::fill_batch<device, typename network::inputs, target>(
            Plan, context_.region[int(region::batch)], data, samples, class_weight);
    }

    // Runs a plan over what fill() put there; `step` numbers the random numbers of dropout.
    template <auto const& Plan, class... After>
    void run(std::uint64_t step, After const&... after) {
        context_.step = std::uint32_t(step);
        device::template run<Plan>(context_, after...);
    }

    // Sums of loss and metrics, as the last run of this plan left them.
    template <auto const& Plan>
    scores_type totals(double weight) const {
        scores_type s;
        s.weight = weight;
        for (size_t i = 0; i < scores_type::count; ++i) {
            s.sum[i] = double(*context_.at(Plan.outputs[i]));
        }
        return s;
    }

    // Applies the optimizer's rule to all parameters; gradients are multiplied with `scale`.
    template <class Rule>
    void update(Rule const& rule, T scale) {
        T* const parameters = context_.region[int(region::parameters)];
        std::ptrdiff_t const trainable = training_plan.trainable;
        last_scale_ = scale;
        std::ptrdiff_t first = 0;
        penalty cost{};
        auto const up_to = [&](std::ptrdiff_t last) { // one pass over what has the same penalty
            if (last > first) {
                device::template optimize<Optimizer::slots>(
                    rule, cost, scale, parameters, gradients(), slots(0), trainable, first, last);
            }
            first = last;
        };
        for (placed_parameter const& p : training_plan.parameters) {
            if (p.trainable && p.rank > 0 && !(p.cost == cost)) {
                up_to(p.offset);
                cost = p.cost;
            }
        }
        up_to(trainable);
    }

    // Of a trained parameter, in logical order: its gradient in the last step, divided by the sum
    // of weights, and the numbers that the optimizer keeps for it.
    std::vector<T> gradient(placed_parameter const& p) const {
        std::vector<T> g = read(gradients(), p);
        for (T& x : g) {
            x *= last_scale_;
        }
        return g;
    }
    std::vector<T> slot(int which, placed_parameter const& p) const {
        return read(slots(which), p);
    }
    void set_slot(int which, placed_parameter const& p, std::span<T const> values) {
        T* const to = slots(which) + p.offset;
        for (size_t k = 0; k < values.size(); ++k) {
            to[device::place_in_parameter(std::ptrdiff_t(k), p)] = values[k];
        }
    }

private:
    T* gradients() const { return context_.region[int(region::gradients)]; }
    T* slots(int which) const { return gradients() + (1 + which) * training_plan.trainable; }

    static std::vector<T> read(T const* region, placed_parameter const& p) {
        std::vector<T> values(size_t(p.count()));
        for (size_t k = 0; k < values.size(); ++k) {
            values[k] = region[p.offset + device::place_in_parameter(std::ptrdiff_t(k), p)];
        }
        return values;
    }

    typename device::memory arena_;
    typename device::context context_;
    T last_scale_ = 0;
};

} // namespace castnet
