// What a step is: short batches, absent samples, weights, penalties, and what it refuses.
#include <castnet/castnet.hpp>

#include "../parameters.hpp"
#include "policy.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <numeric>

namespace cn = castnet;
using check::everything, check::largest_difference, check::policy;

namespace {

using data_set = cn::data::dataset<cn::data::label<3>, cn::shape<2, 5, 5>>;

// Every kind of layer that mixes samples, and those that do not.
using network = cn::sequential<cn::input<2, 5, 5>, cn::conv2d<4, 3, cn::conv{.padding = 1}>,
                               cn::batch_norm, cn::relu, cn::max_pool2d<2>, cn::flatten,
                               cn::dense<6>, cn::batch_norm, cn::tanh, cn::dense<3>>;

data_set samples(std::size_t count) {
    std::vector<float> x(count * 50);
    std::vector<int> y(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(float(i * i % 101));
    }
    for (std::size_t i = 0; i < count; ++i) {
        y[i] = int(i * 2 % 3);
    }
    return data_set{std::move(x), y};
}

struct outcome {
    double loss, accuracy, weight;
    std::vector<double> parameters;
};

// Two steps on these samples, with a network that has room for `Capacity`.
template <std::size_t Capacity>
outcome two_steps(data_set const& data, std::vector<std::size_t> const& chosen,
                  std::vector<float> const& class_weight = {}) {
    cn::model<network, policy, cn::batch<Capacity>> model{cn::seed{5}};
    auto training =
        cn::compile(model, cn::cross_entropy, cn::momentum{.learning_rate = 0.1}, cn::accuracy);
    training.step(data, chosen, {}, class_weight);
    auto const s = training.step(data, chosen, {}, class_weight);
    return {s.loss(), s["accuracy"], s.weight, everything(model)};
}

void same(outcome const& a, outcome const& b, double tolerance = 1e-13) {
    CHECK(std::fabs(a.loss - b.loss) <= tolerance);
    CHECK(a.accuracy == doctest::Approx(b.accuracy));
    CHECK(a.weight == doctest::Approx(b.weight));
    CHECK(largest_difference(a.parameters, b.parameters) <= tolerance);
}

} // namespace

TEST_CASE("a batch that is not full is a batch of its size") {
    auto const data = samples(5);
    same(two_steps<16>(data, {0, 1, 2, 3, 4}), two_steps<5>(data, {0, 1, 2, 3, 4}));
    same(two_steps<16>(data, {2}), two_steps<1>(data, {2}));
}

TEST_CASE("what a larger batch left behind does not show") {
    auto const data = samples(12);
    cn::model<network, policy, cn::batch<12>> model{cn::seed{5}}, fresh{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto clean = cn::compile(fresh, cn::cross_entropy, cn::sgd{});
    std::vector<std::size_t> const all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, few{1, 2, 3};
    training.step(data, all, 0.0);
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) { // as before that step
        auto const name = model.parameter_at(i).name.text();
        model.set(name, fresh.get(name));
    }
    CHECK(training.step(data, few).loss() == clean.step(data, few).loss());
    CHECK(everything(model) == everything(fresh));
}

TEST_CASE("a sample of weight 0 is as if it were not there") {
    auto const data = samples(6);
    auto const weighted = data.with_weights({1, 0, 1, 1, 0, 1});
    same(two_steps<6>(weighted, {0, 1, 2, 3, 4, 5}), two_steps<4>(data, {0, 2, 3, 5}));
}

TEST_CASE("a whole weight counts a sample so often, but in batch statistics once") {
    using plain = cn::sequential<cn::input<2, 5, 5>, cn::flatten, cn::dense<3>>;
    auto const after = [](data_set const& data, std::vector<std::size_t> const& chosen) {
        cn::model<plain, policy, cn::batch<8>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{.learning_rate = 0.1});
        auto const s = training.step(data, chosen);
        return outcome{s.loss(), 0, s.weight, everything(model)};
    };
    auto const data = samples(3);
    same(after(data.with_weights({1, 3, 0.5F}), {0, 1, 2}),
         after(data.with_weights({1, 1, 0.5F}), {0, 1, 1, 1, 2}));

    auto const weighted = data.with_weights({1, 3, 0.5F});
    cn::model<network, policy, cn::batch<3>> a{cn::seed{5}}, b{cn::seed{5}};
    auto weighs = cn::compile(a, cn::cross_entropy, cn::sgd{});
    auto does_not = cn::compile(b, cn::cross_entropy, cn::sgd{});
    std::vector<std::size_t> const all{0, 1, 2};
    weighs.step(weighted, all);
    does_not.step(data, all);
    CHECK(a.get("1.running_mean") == b.get("1.running_mean"));
    CHECK(a.get("6.running_var") == b.get("6.running_var"));
    CHECK(a.get("6.weight") != b.get("6.weight"));
}

TEST_CASE("class weights multiply the weights of samples") {
    auto const data = samples(6); // labels 0 2 1 0 2 1
    std::vector<std::size_t> const all{0, 1, 2, 3, 4, 5};
    auto const by_class = two_steps<6>(data, all, {1.0F, 4.0F, 0.25F});
    auto const by_sample = two_steps<6>(data.with_weights({1, 0.25F, 4, 1, 0.25F, 4}), all);
    same(by_class, by_sample);
    same(two_steps<6>(data, all, {1.0F, 0.0F, 1.0F}), two_steps<4>(data, {0, 1, 3, 4}));
    CHECK_THROWS_AS(two_steps<6>(data, all, {1.0F, 1.0F}), cn::error);

    auto const loss = [&](cn::class_weights const& weights) {
        cn::model<network, policy, cn::batch<4>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        return training
            .fit(data, {.class_weight = weights, .verbose = cn::verbosity::silent})["loss"]
            .back();
    };
    CHECK(loss(std::vector<double>{1, 4, 0.25}) == loss({1, 4, 0.25F}));
    CHECK(loss({1, 4, 0.25F}) != loss({}));
}

TEST_CASE("where all weights are 0, nothing changes") {
    auto const data = samples(4).with_weights({0, 0, 0, 0});
    std::vector<std::size_t> const all{0, 1, 2, 3};
    cn::model<network, policy, cn::batch<4>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.weight_decay = 0.1});
    auto const before = everything(model);
    auto const s = training.step(data, all);
    CHECK(everything(model) == before);
    CHECK(s.loss() == 0);
    CHECK(training.steps() == 0);
    CHECK_THROWS_WITH_AS(
        training.fit(samples(4), {.class_weight = {0, 0, 0}, .verbose = cn::verbosity::silent}),
        doctest::Contains("in epoch 1 the weight of every sample is 0"), cn::error);
    CHECK(everything(model) == before);
    training.step(samples(4), all);
    CHECK(everything(model) != before);
    CHECK(training.steps() == 1);
}

TEST_CASE("a step without samples changes nothing") {
    cn::model<network, policy, cn::batch<4>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto const before = everything(model);
    training.step(samples(4), {});
    CHECK(everything(model) == before);
}

TEST_CASE("before the first step there is no gradient") {
    cn::model<network, policy, cn::batch<4>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto const name = model.parameter_at(0).name.text();
    CHECK_THROWS_WITH_AS(training.gradient(name),
                         "castnet: gradient: there is none before the first step of the training",
                         cn::error);
    training.step(samples(4), {0, 1, 2, 3});
    CHECK(training.gradient(name).size() == model.get(name).size());
}

TEST_CASE("more samples than there is room for are refused") {
    cn::model<network, policy, cn::batch<4>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto const before = everything(model);
    std::vector<std::size_t> const five{0, 1, 2, 3, 0};
    CHECK_THROWS_WITH_AS(training.step(samples(5), five), doctest::Contains("at most 4"),
                         cn::error);
    CHECK(everything(model) == before);
    std::vector<std::size_t> const missing{7};
    CHECK_THROWS_AS(training.step(samples(5), missing), cn::error);
}

TEST_CASE("a penalty adds its gradient to that of the loss") {
    using without = cn::sequential<cn::input<2, 5, 5>, cn::flatten, cn::dense<4>, cn::dense<3>>;
    using with = cn::sequential<cn::input<2, 5, 5>, cn::flatten, cn::dense<4>.l2(0.25F).l1(0.5F),
                                cn::dense<3>.l1(0.125F)>;
    auto const data = samples(4);
    std::vector<std::size_t> const all{0, 1, 2, 3};
    cn::model<without, policy, cn::batch<4>> plain{cn::seed{5}};
    cn::model<with, policy, cn::batch<4>> held{cn::seed{5}};
    auto const hidden = plain.get("1.weight"), out = plain.get("2.weight");
    constexpr double rate = 0.5;
    cn::compile(plain, cn::cross_entropy, cn::sgd{}).step(data, all, rate);
    cn::compile(held, cn::cross_entropy, cn::sgd{}).step(data, all, rate);

    auto const sign = [](double x) { return x > 0 ? 1.0 : -1.0; };
    auto expected = plain.get("1.weight");
    for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] -= rate * (2 * 0.25 * hidden[i] + 0.5 * sign(hidden[i]));
    }
    CHECK(largest_difference(held.get("1.weight"), expected) <= 1e-15);
    expected = plain.get("2.weight");
    for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] -= rate * 0.125 * sign(out[i]);
    }
    CHECK(largest_difference(held.get("2.weight"), expected) <= 1e-15);
    CHECK(held.get("1.bias") == plain.get("1.bias"));
    CHECK(held.get("2.bias") == plain.get("2.bias"));
}

TEST_CASE("evaluation goes over all samples, in batches, without changing anything") {
    auto const data = samples(11);
    cn::model<network, policy, cn::batch<4>> small{cn::seed{5}};
    cn::model<network, policy, cn::batch<11>> large{cn::seed{5}};
    auto in_batches = cn::compile(small, cn::cross_entropy, cn::sgd{}, cn::accuracy);
    auto at_once = cn::compile(large, cn::cross_entropy, cn::sgd{}, cn::accuracy);
    auto const before = everything(small);
    auto const a = in_batches.evaluate(data), b = at_once.evaluate(data);
    CHECK(a.loss() == doctest::Approx(b.loss()).epsilon(1e-12));
    CHECK(a["accuracy"] == doctest::Approx(b["accuracy"]));
    CHECK(a.weight == 11);
    CHECK(everything(small) == before);
    CHECK_THROWS_WITH_AS(a["precision"], doctest::Contains("they have loss, accuracy,"), cn::error);
}
