// Networks and data for the tests of replicas.
#pragma once

#include <castnet/castnet.hpp>

#include "../parameters.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace replicas_test {

namespace cn = castnet;
using check::everything, check::largest_difference;

using data_set = cn::data::dataset<cn::data::label<3>, cn::shape<2, 5, 5>>;

// Everything that mixes samples, and what depends on the place of a sample in the batch.
using network =
    cn::sequential<cn::input<2, 5, 5>, cn::conv2d<4, 3, cn::conv{.padding = 1}>, cn::batch_norm,
                   cn::relu, cn::max_pool2d<2>, cn::flatten, cn::dropout<0.25F>,
                   cn::dense<6>.l2(1e-2F), cn::batch_norm, cn::tanh, cn::dense<3>>;

inline data_set samples(std::size_t count, float first = 0) {
    std::vector<float> x(count * 50);
    std::vector<int> y(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(float(i * i % 101));
    }
    x[0] = first;
    for (std::size_t i = 0; i < count; ++i) {
        y[i] = int(i * 2 % 3);
    }
    return data_set{std::move(x), y};
}

inline data_set samples_with_nan(std::size_t count) {
    return samples(count, std::numeric_limits<float>::quiet_NaN());
}

inline std::vector<std::size_t> first(std::size_t count) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t(0));
    return all;
}

// Parameters, then loss, accuracy and weight.
template <class Policy, std::size_t Batch>
auto after_steps(data_set const& data, std::vector<std::size_t> const& chosen,
                 std::vector<float> const& class_weight = {}, cn::devices const& on = {}) {
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}, on};
    auto training =
        cn::compile(model, cn::cross_entropy, cn::momentum{.learning_rate = 0.1}, cn::accuracy);
    training.step(data, chosen, {}, class_weight);
    auto const s = training.step(data, chosen, {}, class_weight);
    auto all = everything(model);
    using T = typename Policy::value_type;
    all.insert(all.end(), {T(s.loss()), T(s["accuracy"]), T(s.weight)});
    return all;
}

// Two trainings of a model take turns, as those of a GAN. Parameters, then losses and accuracies.
template <class Policy, std::size_t Batch>
auto after_turns(data_set const& data) {
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}};
    auto a = cn::compile(model, cn::cross_entropy, cn::momentum{.learning_rate = 0.1});
    auto b = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    using T = typename Policy::value_type;
    std::vector<T> scores{T(b.evaluate(data).loss())};
    a.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent});
    scores.push_back(T(b.evaluate(data).loss()));
    for (int k = 0; k < 7; ++k) { // enough for a GPU to launch both as graphs
        scores.push_back(T(a.step(data, first(16)).loss()));
        scores.push_back(T(b.step(data, first(13))["accuracy"]));
    }
    scores.push_back(T(a.evaluate(data).loss()));
    auto all = everything(model);
    all.insert(all.end(), scores.begin(), scores.end());
    return all;
}

} // namespace replicas_test
