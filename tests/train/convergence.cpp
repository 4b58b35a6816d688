// Training finds what is there to be found, with every optimizer.
#include <castnet/castnet.hpp>

#include <cmath>
#include <doctest/doctest.h>

namespace cn = castnet;

namespace {

using classifier = cn::sequential<cn::input<8>, cn::dense<16>, cn::relu, cn::dense<4>>;
using regression = cn::sequential<cn::input<3>, cn::dense<1>>;

template <class Optimizer>
double accuracy_with(Optimizer const& optimizer) {
    cn::model<classifier, cn::policy::cpu, cn::batch<32>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, optimizer, cn::accuracy);
    training.fit(cn::data::blobs<4, 8>(800, 5), {.epochs = 8, .verbose = cn::verbosity::silent});
    return training.evaluate(cn::data::blobs<4, 8>(400, 5, 1, 1))["accuracy"];
}

// The mean squared error left after fitting y = 2 a - b + 0.5 c + 1, without noise.
template <class Optimizer>
double error_with(Optimizer const& optimizer) {
    float const coefficients[] = {2, -1, 0.5F};
    auto const data = cn::data::linear(512, 9, coefficients, 1);
    cn::model<regression, cn::policy::cpu, cn::batch<32>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::mse, optimizer);
    training.fit(data, {.epochs = 40, .verbose = cn::verbosity::silent});
    return training.evaluate(data).loss();
}

// Predicts mean and logarithm of the deviation of a normal distribution.
struct likelihood {
    static constexpr bool labels = false;
    using target_shape = cn::shape<1>;
    constexpr auto operator()(cn::symbol<cn::shape<2>> prediction,
                              cn::symbol<cn::shape<1>> target) const {
        auto const i = cn::channel_index<cn::shape<2>>(*prediction.g);
        auto const mean = cn::sum(prediction * cn::equal(i, 0));
        auto const log_deviation = cn::sum(prediction * cn::equal(i, 1));
        return cn::sum(cn::square((target - mean) * cn::exp(-log_deviation))) * 0.5 + log_deviation;
    }
};

} // namespace

TEST_CASE("clouds of points are told apart") {
    CHECK(accuracy_with(cn::sgd{.learning_rate = 0.02}) >= 0.99);
    CHECK(accuracy_with(cn::momentum{.learning_rate = 0.005}) >= 0.99);
    CHECK(accuracy_with(cn::momentum{.learning_rate = 0.005, .nesterov = true}) >= 0.99);
    CHECK(accuracy_with(cn::rmsprop{.learning_rate = 0.005}) >= 0.99);
    CHECK(accuracy_with(cn::rmsprop_momentum{.learning_rate = 0.001}) >= 0.99);
    CHECK(accuracy_with(cn::rmsprop_momentum{.learning_rate = 0.001, .centered = true}) >= 0.99);
    CHECK(accuracy_with(cn::adam{.learning_rate = 0.01}) >= 0.99);
    CHECK(accuracy_with(cn::adamw{.learning_rate = 0.01}) >= 0.99);
    CHECK(accuracy_with(cn::amsgrad{.learning_rate = 0.01}) >= 0.99);
    CHECK(accuracy_with(cn::nadam{.learning_rate = 0.01}) >= 0.99);
    CHECK(accuracy_with(cn::adamax{.learning_rate = 0.01}) >= 0.99);
    CHECK(accuracy_with(cn::radam{.learning_rate = 0.01}) >= 0.99);
    CHECK(accuracy_with(cn::lion{.learning_rate = 0.003}) >= 0.99);
    CHECK(accuracy_with(cn::adagrad{.learning_rate = 0.05}) >= 0.99);
    CHECK(accuracy_with(cn::adadelta{}) >= 0.99);
}

TEST_CASE("a line is found") {
    CHECK(error_with(cn::sgd{.learning_rate = 0.1}) < 1e-8);
    CHECK(error_with(cn::momentum{.learning_rate = 0.02}) < 1e-8);
    CHECK(error_with(cn::momentum{.learning_rate = 0.02, .nesterov = true}) < 1e-8);
    CHECK(error_with(cn::rmsprop{.learning_rate = 0.01}) < 1e-3);
    CHECK(error_with(cn::rmsprop_momentum{.learning_rate = 0.002}) < 1e-3);
    CHECK(error_with(cn::rmsprop_momentum{.learning_rate = 0.002, .centered = true}) < 1e-3);
    CHECK(error_with(cn::adam{.learning_rate = 0.05}) < 1e-5);
    CHECK(error_with(cn::adamw{.learning_rate = 0.05, .weight_decay = 0}) < 1e-5);
    CHECK(error_with(cn::amsgrad{.learning_rate = 0.05}) < 1e-5);
    CHECK(error_with(cn::nadam{.learning_rate = 0.05}) < 1e-5);
    CHECK(error_with(cn::lion{.learning_rate = 0.005}) < 1e-3);
    CHECK(error_with(cn::adagrad{.learning_rate = 0.5}) < 1e-5);
    CHECK(error_with(cn::adadelta{}) < 1e-3);
}

TEST_CASE("the coefficients of a line are its weights") {
    float const coefficients[] = {2, -1, 0.5F};
    auto const data = cn::data::linear(512, 9, coefficients, 1);
    cn::model<regression, cn::policy::basic_cpu<double>, cn::batch<64>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::mse, cn::sgd{.learning_rate = 0.3});
    training.fit(data, {.epochs = 60, .verbose = cn::verbosity::silent});
    auto const w = model.get("0.weight");
    CHECK(std::fabs(w[0] - 2) < 1e-5);
    CHECK(std::fabs(w[1] + 1) < 1e-5);
    CHECK(std::fabs(w[2] - 0.5) < 1e-5);
    CHECK(std::fabs(model.get("0.bias")[0] - 1) < 1e-5);
}

TEST_CASE("a loss of one's own, with a target of its own shape") {
    using network = cn::sequential<cn::input<1>, cn::dense<2>>;
    float const slope[] = {3};
    auto const data = cn::data::linear(2000, 4, slope, -1, 0.25);
    cn::model<network, cn::policy::cpu, cn::batch<50>> model{cn::seed{1}};
    auto training = cn::compile(model, likelihood{}, cn::adam{.learning_rate = 0.02});
    training.fit(data, {.epochs = 30, .verbose = cn::verbosity::silent});
    auto const w = model.get("0.weight"), b = model.get("0.bias");
    CHECK(w[0] == doctest::Approx(3).epsilon(0.03));
    CHECK(b[0] == doctest::Approx(-1).epsilon(0.05));
    CHECK(std::exp(b[1]) == doctest::Approx(0.25).epsilon(0.1));
}
