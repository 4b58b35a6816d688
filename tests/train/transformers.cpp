// Trainings of transformers: they learn, and replicas take the steps of one device.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "policy.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <span>
#include <vector>

namespace cn = castnet;

namespace {

constexpr std::size_t steps = 5, features = 4, classes = 3;
constexpr cn::transformer options{
    .feed_forward = 8, .dropout = 0, .norm_first = true, .causal = true};

using network = cn::sequential<cn::input<steps, features>, cn::dense<8>, cn::learned_positions,
                               cn::transformer_encoder_layer<2, options, cn::gelu>, cn::layer_norm,
                               cn::flatten, cn::dense<classes>>;
using data_set = cn::data::dataset<cn::data::label<classes>, cn::shape<steps, features>>;

// Which of the first three steps is repeated in the last one.
data_set samples(std::size_t count) {
    std::vector<double> x(count * steps * features);
    std::vector<int> y(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(double(i * i % 1009));
    }
    for (std::size_t i = 0; i < count; ++i) {
        y[i] = int(i * 7 % classes);
        auto const sample = x.begin() + std::ptrdiff_t(i * steps * features);
        std::copy_n(sample + y[i] * std::ptrdiff_t(features), features,
                    sample + std::ptrdiff_t((steps - 1) * features));
    }
    return data_set{std::vector<float>(x.begin(), x.end()), y};
}

template <class Where, std::size_t Batch>
std::vector<double> after_steps(data_set const& data) {
    cn::model<network, Where, cn::batch<Batch>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{.learning_rate = 0.1});
    std::vector<std::size_t> chosen(11);
    for (std::size_t step = 0; step < 3; ++step) {
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            chosen[i] = (step * 13 + i) % data.size();
        }
        training.step(data, chosen);
    }
    return check::everything<double>(model);
}

// Prediction step by step, of a sequence and of another one behind it.
template <auto... Layers>
void compare_steps() {
    using net = cn::sequential<cn::input<steps, 8>, Layers...>;
    cn::model<net, check::policy, cn::batch<1>> const model{cn::seed{3}};
    cn::stateful_predictor reader{model};
    for (double const phase : {1, 2}) {
        std::vector<double> x(steps * 8);
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = std::sin(1.7 * double(i) + phase);
        }
        std::vector<double> const whole = model.predict(x);
        for (std::size_t t = 0; t < steps; ++t) {
            auto const y = reader.predict(std::span<double const, 8>{x.data() + 8 * t, 8});
            for (std::size_t i = 0; i < y.size(); ++i) {
                CHECK(y[i] == doctest::Approx(whole[t * y.size() + i]));
            }
        }
        reader.reset();
        for (std::size_t first = 1; first <= steps; ++first) { // at once, and one more
            auto y = reader.prefill(std::span{x}.first(8 * first));
            for (std::size_t i = 0; i < y.size(); ++i) {
                CHECK(y[i] == doctest::Approx(whole[(first - 1) * y.size() + i]));
            }
            if (first < steps) {
                y = reader.predict(std::span<double const, 8>{x.data() + 8 * first, 8});
                for (std::size_t i = 0; i < y.size(); ++i) {
                    CHECK(y[i] == doctest::Approx(whole[first * y.size() + i]));
                }
            }
        }
        reader.reset();
    }
}

} // namespace

TEST_CASE("causal attention step by step sees the steps so far") {
    compare_steps<cn::learned_positions, cn::transformer_encoder_layer<2, options, cn::gelu>,
                  cn::layer_norm, cn::dense<2>>();
    compare_steps<cn::sinusoidal_positions, cn::multi_head_attention<2>.rotary().causal(),
                  cn::gru<2>.return_sequences()>();
}

TEST_CASE("a transformer learns which of its inputs are alike") {
    auto const data = samples(48);
    cn::model<network, check::policy, cn::batch<16>> model{cn::seed{3}};
    auto training =
        cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.01}, cn::accuracy);
    auto const history = training.fit(data, {.epochs = 60, .verbose = cn::verbosity::silent});
    CHECK(history["accuracy"].back() > 0.9);
}

#ifndef CASTNET_TEST_DEVICE
TEST_CASE("replicas of a transformer take the steps of one") {
    auto const data = samples(20);
    auto const one = after_steps<check::policy, 12>(data),
               two = after_steps<cn::policy::mirrored<check::policy, 2>, 6>(data);
    REQUIRE(one.size() == two.size());
    double worst = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        worst = std::max(worst, std::fabs(one[i] - two[i]));
    }
    CHECK(worst < 1e-12);
}
#endif
