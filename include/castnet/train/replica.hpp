// What one device holds and does in a training: the memory of a step, and the passes over it. The
// loops that decide which samples and how fast are in train/training.hpp.
#pragma once

#include <castnet/comm/alone.hpp>
#include <castnet/optim/optimizers.hpp>
#include <castnet/plan/communication.hpp>
#include <castnet/train/feed.hpp>
#include <castnet/train/model.hpp>
#include <castnet/train/scores.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace castnet {

// Which part of a batch a replica has: the number of its first sample there, and how many samples
// of the whole batch count (if there are other replicas).
struct share_of_batch {
    std::uint32_t first = 0;
    std::optional<size_t> present{};
};

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

    // Puts samples of the data into the memory of a plan; returns what they weigh. Throws
    // castnet::error if there are more than the batch's capacity.
    template <auto const& Plan, class Data>
    detail::batch_weight fill(Data const& data, std::span<size_t const> samples,
                              std::span<float const> class_weight = {},
                              share_of_batch const& share = {}) {
        if (samples.size() > capacity) {
            throw error("castnet: a step of at most " + std::to_string(capacity) +
                        " samples was given " + std::to_string(samples.size()));
        }
        using target = typename detail::target_of<Loss, first_output>::type;
        detail::check_inputs<network, Data>();
        detail::check_target<Loss, first_output, target, Data>();
        context_.samples = std::ptrdiff_t(samples.size());
        context_.first_sample = share.first;
        return detail::fill_batch<device, typename network::inputs, target>(
            Plan, context_.region[int(region::batch)], data, samples, class_weight, share.present);
    }

    // What samples weigh, here or on other replicas.
    template <class Data>
    static detail::batch_weight weigh(Data const& data, std::span<size_t const> samples,
                                      std::span<float const> class_weight) {
        using target = typename detail::target_of<Loss, first_output>::type;
        return detail::weigh<target, T>(data, samples, class_weight);
    }

    // Runs a plan over what fill() put there; `step` numbers the random numbers of dropout.
    template <auto const& Plan, class... After>
    void run(std::uint64_t step, After const&... after) {
        context_.step = std::uint32_t(step);
        device::template run<Plan>(context_, after...);
    }

    // The same together with other replicas: what the plan sums over samples, it sums over those of
    // all.
    template <auto const& Plan, class Communicator>
    void run_with(Communicator& others, std::uint64_t step) {
        if constexpr (std::is_same_v<Communicator, comm::no_communicator>) {
            run<Plan>(step);
        } else {
            using exchanges = communication_of<Plan, sizeof(T)>;
            exchanged_.resize(size_t(exchanges::largest_message()));
            int next = 0, bucket = 0, sums = 0;
            run<Plan>(step, [&](int i) {
                for (; next < exchanges::exchange_count; ++next) {
                    exchange const& e = exchanges::value.exchanges[next];
                    if (e.after != i) {
                        break;
                    }
                    int& number = e.gradients ? bucket : sums;
                    char const* const what =
                        e.gradients ? "sum of gradients, bucket" : "sum over the batch";
                    add_up(others,
                           std::span{exchanges::value.ranges + e.first, size_t(e.last - e.first)},
                           {what, number++, step});
                }
            });
        }
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

    // What replicas have in common: the parameters, and what the optimizer keeps.
    std::span<T> parameters() const {
        return {context_.region[int(region::parameters)],
                size_t(training_plan.elements(region::parameters))};
    }
    std::span<T> optimizer_state() const { return {slots(0), optimizer_bytes / sizeof(T)}; }

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
    template <class Communicator>
    void add_up(Communicator& others, std::span<element_range const> ranges,
                comm::collective const& at) {
        auto const place = [&](element_range const& r) {
            return context_.region[int(r.where)] + r.offset;
        };
        if (ranges.size() == 1) {
            others.sum(std::span{place(ranges[0]), size_t(ranges[0].count)}, at);
            return;
        }
        T* end = exchanged_.data();
        for (element_range const& r : ranges) {
            end = std::copy_n(place(r), r.count, end);
        }
        others.sum(std::span{exchanged_.data(), end}, at);
        T const* from = exchanged_.data();
        for (element_range const& r : ranges) {
            std::copy_n(from, r.count, place(r));
            from += r.count;
        }
    }

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
    std::vector<T> exchanged_; // a message of several ranges
};

} // namespace castnet
