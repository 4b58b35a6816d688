// Losses and metrics with numbers of the program, and metrics that are made of several sums.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "../temporary_path.hpp"
#include "policy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace cn = castnet;

namespace {

using regression = cn::sequential<cn::input<3>, cn::dense<4>, cn::tanh, cn::dense<2>>;
using data_set = cn::data::dataset<cn::shape<2>, cn::shape<3>>;
using check::policy;
template <class Network>
using trained = cn::model<Network, policy, cn::batch<8>>;
template <class Network>
using by_two = cn::model<Network, cn::policy::logical<policy, 2>, cn::batch<4>>;

data_set samples(std::size_t count) {
    std::vector<float> x, y, weights;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < 3; ++k) {
            x.push_back(float(i * 37 % 101 + k * 50 % 83) / 64 - 1);
        }
        for (std::size_t k = 0; k < 2; ++k) {
            y.push_back(float((i + 5 * k) * 29 % 97) / 32 - 1.5F);
        }
        weights.push_back(float(i % 4) / 2);
    }
    return data_set{x, y}.with_weights(weights);
}
std::vector<std::size_t> first(std::size_t count) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t(0));
    return all;
}

struct pinball_loss {
    static constexpr char const* name = "pinball";
    static constexpr bool labels = false;
    cn::scalar quantile = 0.5;

    constexpr auto operator()(auto prediction, auto target) const {
        auto const error = target - prediction;
        return cn::mean(cn::maximum(quantile * error, (quantile - 1) * error));
    }
};
// The same with a number that the compiler knows.
struct pinball_of_a_quarter {
    static constexpr bool labels = false;
    constexpr auto operator()(auto prediction, auto target) const {
        return pinball_loss{.quantile = 0.25}(prediction, target);
    }
};

// Every kind of operand beside a scalar, and scalars alone.
struct blended_loss {
    static constexpr bool labels = false;
    cn::scalar a, b;
    cn::scalar unused = 7;

    constexpr auto operator()(auto prediction, auto target) const {
        auto const both = a * b + cn::exp(-b) / 2;
        auto const large = cn::greater(cn::square(prediction), a);
        return both * cn::mse(prediction, target) + (1 - a) * cn::mae(prediction, target) +
               cn::mean(cn::where(large, b, 2.0) * prediction) - cn::less(a, b);
    }
};
double blended(double a, double b, double const* prediction, double const* target) {
    double squares = 0, distances = 0, mean = 0;
    for (int k = 0; k < 2; ++k) {
        double const p = prediction[k], error = p - target[k];
        squares += error * error / 2;
        distances += std::abs(error) / 2;
        mean += (p * p > a ? b : 2.0) * p / 2;
    }
    return (a * b + std::exp(-b) / 2) * squares + (1 - a) * distances + mean - (a < b ? 1 : 0);
}

struct above_metric {
    static constexpr char const* name = "above";
    static constexpr bool labels = false;
    cn::scalar threshold; // which has to be given
    constexpr auto operator()(auto prediction, auto) const {
        return cn::mean(cn::greater(prediction, threshold));
    }
};

// The correlation of the first output with its target.
struct correlation_metric {
    static constexpr char const* name = "correlation";
    static constexpr bool labels = false;
    cn::scalar times = 1;

    constexpr auto operator()(auto prediction, auto target) const {
        auto const x = cn::sum(prediction | cn::slice_channels<0, 1>);
        auto const y = cn::sum(target | cn::slice_channels<0, 1>);
        return cn::stack(x, y, x * x, y * y, x * y);
    }
    double result(std::span<double const> s, double weight) const {
        double const xx = s[2] - s[0] * s[0] / weight, yy = s[3] - s[1] * s[1] / weight;
        return times.value * (s[4] - s[0] * s[1] / weight) / std::sqrt(xx * yy);
    }
};

struct two_heads {
    constexpr auto operator()(auto x) const {
        return cn::outputs<"left", "right">(x | cn::dense<2>, x | cn::dense<2>);
    }
};
using both_targets = cn::data::targets<cn::shape<2>, cn::shape<2>>;

// Outputs that the tests choose: the input itself.
template <std::size_t N>
using same = cn::sequential<cn::input<N>, cn::dense<N>>;
template <class Model>
void pass_on(Model& model, std::size_t n) {
    using T = typename Model::value_type;
    std::vector<T> weight(n * n), bias(n);
    for (std::size_t i = 0; i < n; ++i) {
        weight[i * (n + 1)] = 1;
    }
    model.set("0.weight", weight);
    model.set("0.bias", bias);
}

std::vector<float> weights_of_24() {
    std::vector<float> all;
    for (int i = 0; i < 24; ++i) {
        all.push_back(float(i % 4 + 1) / 2);
    }
    return all;
}
auto decisions() {
    std::vector<float> logits, targets;
    for (int i = 0; i < 24; ++i) {
        logits.push_back(float(i * 37 % 101) / 32 - 1.5F);
        targets.push_back(i * 37 % 101 + i * 29 % 50 > 70 ? 1.0F : 0.0F);
    }
    return cn::data::dataset<cn::shape<1>, cn::shape<1>>{logits, targets}.with_weights(
        weights_of_24());
}
auto classes() {
    std::vector<float> outputs;
    std::vector<int> labels;
    for (int i = 0; i < 24; ++i) {
        for (int c = 0; c < 5; ++c) {
            outputs.push_back(float((i * 13 + c * 29 + i * c * 7) % 53) / 8 + float(c) / 64 -
                              (c == 4 ? 100.0F : 0.0F));
        }
        labels.push_back((i * 5 + i / 3) % 4);
    }
    return cn::data::dataset<cn::data::label<5>, cn::shape<5>>{outputs, labels}.with_weights(
        weights_of_24());
}
auto numbers() {
    std::vector<float> outputs, targets;
    for (int i = 0; i < 24; ++i) {
        for (int k = 0; k < 2; ++k) {
            outputs.push_back(float((i * 17 + k * 5) % 23) / 8 + 1000 * float(k));
            targets.push_back(outputs.back() + float((i * 11 + k * 3) % 9) / 16 - 0.25F);
        }
    }
    return cn::data::dataset<cn::shape<2>, cn::shape<2>>{outputs, targets}.with_weights(
        weights_of_24());
}

// Scores of the inputs of the data as outputs.
template <class Model, class Data, class Loss, class... Metrics>
auto scored(Model& model, Data const& data, Loss loss, Metrics... metrics) {
    pass_on(model, Data::template input_shape<0>::count);
    auto training = cn::compile(model, loss, cn::sgd{}, metrics...);
    return training.evaluate(data);
}

// See scores_golden.py.
template <template <class> class Model>
void against_golden_scores() {
    using doctest::Approx;
    Model<same<1>> one;
    auto const half = scored(one, decisions(), cn::binary_cross_entropy, cn::precision, cn::recall,
                             cn::f_beta_metric{.beta = 2}, cn::f1, cn::auc, cn::pr_auc);
    CHECK(half["precision"] == Approx(0.8620689655172413).epsilon(1e-12));
    CHECK(half["recall"] == Approx(0.9615384615384616).epsilon(1e-12));
    CHECK(half["f_beta"] == Approx(0.9398496240601504).epsilon(1e-12));
    CHECK(half["f1"] == Approx(0.9090909090909091).epsilon(1e-12));
    CHECK(half["auc"] == Approx(0.9717194570135745).epsilon(1e-12));
    CHECK(half["pr_auc"] == Approx(0.967132031917572).epsilon(1e-7)); // of floats
    auto const higher =
        scored(one, decisions(), cn::binary_cross_entropy, cn::precision_metric{.threshold = 0.7},
               cn::recall_metric{.threshold = 0.7}, cn::f_beta_metric{.beta = 2, .threshold = 0.7},
               cn::f1_metric{.threshold = 0.7});
    CHECK(higher["precision"] == 1);
    CHECK(higher["recall"] == Approx(0.38461538461538464).epsilon(1e-12));
    CHECK(higher["f_beta"] == Approx(0.43859649122807015).epsilon(1e-12));
    CHECK(higher["f1"] == Approx(0.5555555555555556).epsilon(1e-12));

    Model<same<5>> five;
    auto const macro = scored(five, classes(), cn::cross_entropy, cn::macro_precision,
                              cn::macro_recall, cn::macro_f1);
    CHECK(macro["macro_precision"] == Approx(0.2885964912280702).epsilon(1e-12));
    CHECK(macro["macro_recall"] == Approx(0.21250000000000002).epsilon(1e-12));
    CHECK(macro["macro_f1"] == Approx(0.24065934065934064).epsilon(1e-12));

    Model<same<2>> two;
    auto const fit = scored(two, numbers(), cn::mse, cn::rmse, cn::r2_metric{.center = 500});
    CHECK(fit["rmse"] == Approx(0.1545743483462462).epsilon(1e-12));
    CHECK(fit["r2"] == Approx(0.9567734738303612).epsilon(1e-9));
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();
template <std::size_t N>
auto samples_of(std::vector<double> const& outputs, std::vector<double> const& targets) {
    return cn::data::dataset<cn::shape<N>, cn::shape<N>>{
        std::vector<float>(outputs.begin(), outputs.end()),
        std::vector<float>(targets.begin(), targets.end())};
}

} // namespace

TEST_CASE("scores are bound in their order") {
    trained<regression> model{cn::seed{1}};
    auto training = cn::compile(model, cn::mse, cn::sgd{}, cn::mae, cn::rmse);
    auto const all = training.evaluate(samples(10));
    auto const [loss, mae, rmse] = all;
    CHECK(loss == all.loss());
    CHECK(mae == all["mae"]);
    CHECK(rmse == all["rmse"]);
    auto [before, mae_before, rmse_before] = training.step(samples(10), {0, 1, 2});
    CHECK(before > 0);
}

TEST_CASE("a step with a loss's scalar is that of the same number in the program") {
    auto const data = samples(8);
    trained<regression> given{cn::seed{3}}, known{cn::seed{3}}, other{cn::seed{3}};
    auto of_given = cn::compile(given, pinball_loss{.quantile = 0.25}, cn::adam{});
    auto of_known = cn::compile(known, pinball_of_a_quarter{}, cn::adam{});
    auto of_other = cn::compile(other, pinball_loss{.quantile = 0.75}, cn::adam{});
    for (int step = 0; step < 3; ++step) {
        auto const a = of_given.step(data, first(8)), b = of_known.step(data, first(8));
        of_other.step(data, first(8));
        CHECK(a.loss() == doctest::Approx(b.loss()).epsilon(1e-12));
    }
    CHECK(check::largest_difference(check::everything(given), check::everything(known)) < 1e-12);
    CHECK(check::largest_difference(check::everything(given), check::everything(other)) > 1e-4);
    CHECK(of_given.evaluate(data).loss() ==
          doctest::Approx(of_known.evaluate(data).loss()).epsilon(1e-12));
}

TEST_CASE("scalars compute with symbols, numbers and each other") {
    auto const data = samples(11);
    trained<regression> model{cn::seed{4}};
    auto const predicted = model.predict(data);
    for (auto const& [a, b] : {std::array{0.25, 0.75}, std::array{0.5, -1.5}}) {
        auto training = cn::compile(model, blended_loss{.a = a, .b = b}, cn::sgd{},
                                    above_metric{.threshold = b});
        double loss = 0, above = 0, weights = 0;
        for (std::size_t i = 0; i < 11; ++i) {
            double target[2], own[2] = {double(predicted[2 * i]), double(predicted[2 * i + 1])};
            data.copy_target(i, target);
            double const weight = double(data.weight(i));
            loss += weight * blended(a, b, own, target);
            above += weight * ((own[0] > b) + (own[1] > b)) / 2;
            weights += weight;
        }
        auto const s = training.evaluate(data);
        CHECK(s.loss() == doctest::Approx(loss / weights).epsilon(1e-12));
        CHECK(s["above"] == doctest::Approx(above / weights).epsilon(1e-12));
    }
}

TEST_CASE("gradients of a loss with scalars are those of finite differences") {
    auto const data = samples(8);
    trained<regression> model{cn::seed{5}};
    auto training = cn::compile(model, blended_loss{.a = 0.25, .b = 0.75}, cn::sgd{});
    training.step(data, first(8), 0.0);
    for (char const* name : {"0.weight", "0.bias", "2.weight", "2.bias"}) {
        auto const gradient = training.gradient(name);
        auto const start = model.get(name);
        for (std::size_t i = 0; i < start.size(); ++i) {
            double loss[2];
            for (int side : {0, 1}) {
                auto moved = start;
                moved[i] += side == 0 ? -1e-6 : 1e-6;
                model.set(name, moved);
                loss[side] = training.evaluate(data).loss();
            }
            CAPTURE(name);
            CHECK((loss[1] - loss[0]) / 2e-6 == doctest::Approx(gradient[i]).epsilon(1e-5));
        }
        model.set(name, start);
    }
}

TEST_CASE("losses and metrics of several outputs have scalars of their own") {
    auto const one = samples(12);
    std::vector<float> x, left, right;
    for (std::size_t i = 0; i < 12; ++i) {
        float in[3], out[2];
        one.copy_input(i, in);
        one.copy_target(i, out);
        x.insert(x.end(), in, in + 3);
        left.insert(left.end(), out, out + 2);
        right.insert(right.end(), {out[1], out[0]});
    }
    cn::data::dataset<both_targets, cn::shape<3>> const data{x, left, right};
    trained<cn::network<two_heads{}, cn::input<3>>> model{cn::seed{6}};
    auto training =
        cn::compile(model,
                    cn::loss_list{pinball_loss{.quantile = 0.9},
                                  cn::loss_weight<0.5F>(cn::huber_loss{.delta = 0.25})},
                    cn::sgd{}, above_metric{.threshold = 0.25},
                    cn::on_output<1>(above_metric{.threshold = -0.5}), cn::on_output<1, cn::r2>);
    auto apart =
        cn::compile(model, cn::losses<cn::mse, cn::loss_weight<0.5F, cn::huber<0.25F>>>, cn::sgd{});
    auto const s = training.evaluate(data);
    auto const a = model.predict(data), b = model.template predict<1>(data);
    double pinball = 0, above[2] = {};
    for (std::size_t i = 0; i < 24; ++i) {
        double const error = double(left[i]) - double(a[i]);
        pinball += std::max(0.9 * error, -0.1 * error) / 24;
        above[0] += (double(a[i]) > 0.25) / 24.0;
        above[1] += (double(b[i]) > -0.5) / 24.0;
    }
    CHECK(s["left_loss"] == doctest::Approx(pinball).epsilon(1e-12));
    CHECK(s["right_loss"] == doctest::Approx(apart.evaluate(data)["right_loss"]).epsilon(1e-12));
    CHECK(s.loss() == doctest::Approx(pinball + 0.5 * s["right_loss"]).epsilon(1e-12));
    CHECK(s["above"] == doctest::Approx(above[0]).epsilon(1e-12));
    CHECK(s["right_above"] == doctest::Approx(above[1]).epsilon(1e-12));
    CHECK(s["right_r2"] < 1);
}

TEST_CASE("a loss with a weight has the scalars of the loss") {
    auto const data = samples(12);
    trained<regression> model{cn::seed{6}};
    auto weighted =
        cn::compile(model, cn::loss_weight<0.5F>(pinball_loss{.quantile = 0.9}), cn::sgd{});
    auto plain = cn::compile(model, pinball_loss{.quantile = 0.9}, cn::sgd{});
    CHECK(weighted.evaluate(data).loss() == plain.evaluate(data).loss() / 2);
}

TEST_CASE("a number that is none is refused") {
    trained<regression> model;
    CHECK_THROWS_WITH_AS(cn::compile(model, cn::mse, cn::sgd{}, above_metric{.threshold = none}),
                         doctest::Contains("scalar 0 of loss and metrics is nan"), cn::error);
}

TEST_CASE("numbers of losses and metrics lie in their ranges") {
    trained<regression> model;
    char const* const not_above_0 = "castnet: huber: delta is 0, expected a finite number above 0";
    CHECK_THROWS_WITH_AS(cn::compile(model, cn::huber_loss{.delta = 0}, cn::sgd{}), not_above_0,
                         cn::error);
    auto const refusal = [](auto const&... loss_or_metric) {
        try {
            (void)cn::detail::all_scalars(loss_or_metric...);
        } catch (cn::error const& e) {
            return std::string{e.what()};
        }
        return std::string{};
    };
    CHECK(refusal(cn::loss_weight<2.0F>(cn::huber_loss{.delta = 0})) == not_above_0);
    CHECK(refusal(cn::loss_list{cn::mse, cn::huber_loss{.delta = none}}) ==
          "castnet: huber: delta is nan, expected a finite number above 0");
    CHECK(refusal(cn::mse, cn::on_output<1>(cn::f_beta_metric{.threshold = 50})) ==
          "castnet: f_beta: threshold is 50, expected a number from 0 to 1");
    CHECK(
        refusal(cn::smoothed_categorical_cross_entropy_loss{.smoothing = 1}) ==
        "castnet: smoothed_categorical_cross_entropy: smoothing is 1, expected a number from 0 to "
        "below 1");
    CHECK(refusal(cn::focal_cross_entropy_loss{.gamma = -2}) ==
          "castnet: focal_cross_entropy: gamma is -2, expected a finite number that is not "
          "negative");
    CHECK(refusal(cn::binary_focal_cross_entropy_loss{.alpha = 1.5}) != "");
    CHECK(refusal(cn::dice_loss{.smooth = -1}) != "");
    CHECK(refusal(cn::triplet_margin_loss{.margin = -1}) != "");
    CHECK(refusal(cn::contrastive_loss{.margin = none}) != "");
    CHECK(refusal(cn::cosine_embedding_loss{.margin = -1}) != "");
    CHECK(refusal(cn::margin_ranking_loss{.margin = -1}) != "");
    CHECK(refusal(cn::hinge_embedding_loss{.margin = none}) != "");
    CHECK(refusal(cn::tversky_loss{.beta = -1}) != "");
    CHECK(refusal(cn::precision_metric{.threshold = -1}) != "");
    CHECK(refusal(cn::f_beta_metric{.beta = -1}) != "");
    CHECK(refusal(cn::huber_loss{.delta = 1e-3}, cn::recall_metric{.threshold = 1}) == "");
}

TEST_CASE("a metric of several sums makes one number of them, of all samples") {
    auto const data = samples(21);
    trained<regression> model{cn::seed{7}};
    auto training = cn::compile(model, cn::mse, cn::sgd{.learning_rate = 0},
                                correlation_metric{.times = 3}, cn::mae);
    auto const predicted = model.predict(data);
    double s[6] = {};
    for (std::size_t i = 0; i < 21; ++i) {
        double target[2];
        data.copy_target(i, target);
        double const x = double(predicted[2 * i]), y = target[0], w = double(data.weight(i));
        double const each[] = {w, w * x, w * y, w * x * x, w * y * y, w * x * y};
        for (int k = 0; k < 6; ++k) {
            s[k] += each[k];
        }
    }
    double const expected = 3 * (s[5] - s[1] * s[2] / s[0]) /
                            std::sqrt((s[3] - s[1] * s[1] / s[0]) * (s[4] - s[2] * s[2] / s[0]));
    auto const found = training.evaluate(data);
    CHECK(found.count == 3);
    CHECK(found.sums == 7);
    CHECK(found["correlation"] == doctest::Approx(expected).epsilon(1e-9));

    auto const h =
        training.fit(data, {.epochs = 2, .validation = data, .verbose = cn::verbosity::silent});
    CHECK(h["correlation"].back() == doctest::Approx(expected).epsilon(1e-9));
    CHECK(h["val_correlation"].back() == doctest::Approx(expected).epsilon(1e-9));
    CHECK(h["val_mae"].back() == found["mae"]);
    auto sums = training.step(data, first(8));
    sums += training.step(data, std::vector<std::size_t>{8, 9, 10, 11, 12, 13, 14, 15});
    sums += training.step(data, std::vector<std::size_t>{16, 17, 18, 19, 20});
    CHECK(sums["correlation"] == doctest::Approx(expected).epsilon(1e-9));
}

TEST_CASE("precision, recall, F-scores, areas and R2 are those of scikit-learn and Keras") {
    against_golden_scores<trained>();
}
TEST_CASE("replicas add up what they are made of") {
    against_golden_scores<by_two>();
}

template <template <class> class Model>
void confuses() {
    Model<same<5>> model;
    auto const data = classes();
    auto const s = scored(model, data, cn::cross_entropy, cn::macro_recall, cn::confusion_matrix<5>,
                          cn::macro_f1, cn::accuracy);
    double expected[5][5] = {};
    for (std::size_t i = 0; i < data.size(); ++i) {
        std::size_t label = 0;
        float x[5];
        data.copy_target(i, &label);
        data.copy_input(i, x);
        expected[label][std::max_element(x, x + 5) - x] += double(data.weight(i));
    }
    auto const found = s.template counts<"confusion_matrix">();
    double recall = 0, f1 = 0;
    for (std::size_t label = 0; label < 5; ++label) {
        for (std::size_t made = 0; made < 5; ++made) {
            CHECK(found(label, made) == expected[label][made]);
        }
        CHECK(found.undecided(label) == 0);
        recall += found.recall(label) / 4; // there is no sample of class 4
        f1 += found.f1(label) / 4;
    }
    CHECK(s["macro_recall"] == doctest::Approx(recall).epsilon(1e-12));
    CHECK(s["macro_f1"] == doctest::Approx(f1).epsilon(1e-12));
    CHECK(s["confusion_matrix"] == doctest::Approx(s["accuracy"]).epsilon(1e-12));
    CHECK(found.accuracy() == s["confusion_matrix"]);
    CHECK(found.recall(4) == 0);
}
TEST_CASE("a confusion matrix has the counts of labels and predictions") {
    confuses<trained>();
    confuses<by_two>();
}

TEST_CASE("what is not predicted is in a column of its own of the confusion matrix") {
    trained<same<3>> model;
    auto const s =
        scored(model,
               cn::data::dataset<cn::data::label<3>, cn::shape<3>>{
                   std::vector<float>{1, 1, 0, float(none), 0, 0, 0, 2, 1}, std::vector{0, 2, 2}},
               cn::cross_entropy, cn::confusion_matrix<3>);
    auto const found = s.counts<"confusion_matrix">();
    CHECK(found.undecided(0) == 1);
    CHECK(found.undecided(1) == 0);
    CHECK(found.undecided(2) == 1);
    CHECK(found(2, 1) == 1);
    CHECK(found.precision(1) == 0);
    CHECK(found.recall(2) == 0);
    CHECK(found.accuracy() == 0);
}

TEST_CASE("an area counts all decisions of a sample, as if each was one of its own") {
    auto const numbers = [](std::size_t step, std::size_t of) {
        std::vector<double> x(24);
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = double(i * step % of);
        }
        return x;
    };
    auto logits = numbers(37, 101), targets = numbers(29, 50);
    for (std::size_t i = 0; i < logits.size(); ++i) {
        targets[i] = logits[i] + targets[i] > 70 ? 1 : 0;
        logits[i] = logits[i] / 32 - 1.5;
    }
    trained<same<1>> one;
    trained<same<4>> four;
    auto const apart =
        scored(one, samples_of<1>(logits, targets), cn::binary_cross_entropy, cn::auc, cn::pr_auc);
    auto const together =
        scored(four, samples_of<4>(logits, targets), cn::binary_cross_entropy, cn::auc, cn::pr_auc);
    CHECK(apart["auc"] > 0.9);
    CHECK(together["auc"] == apart["auc"]);
    CHECK(together["pr_auc"] == apart["pr_auc"]);
}

TEST_CASE("the counts of an area make both curves") {
    trained<same<1>> one;
    auto const data = decisions();
    auto const s = scored(one, data, cn::binary_cross_entropy, cn::auc, cn::recall, cn::precision);
    auto const counts = s.counts<"auc">();
    auto const roc = counts.roc();
    auto const pr = counts.precision_recall();
    CHECK(counts.roc_area() == s["auc"]);
    REQUIRE(roc.size() == 200);
    REQUIRE(pr.size() == 200);
    for (std::size_t i : {std::size_t(0), std::size_t(40), std::size_t(120), std::size_t(199)}) {
        double hits = 0, alarms = 0, positive = 0, negative = 0;
        for (std::size_t k = 0; k < data.size(); ++k) {
            float x = 0, t = 0;
            data.copy_input(k, &x);
            data.copy_target(k, &t);
            bool const passes = i == 0 || 1 / (1 + std::exp(-double(x))) * 199 > double(i);
            double const w = double(data.weight(k));
            (t > 0.5F ? positive : negative) += w;
            (t > 0.5F ? hits : alarms) += passes && i < 199 ? w : 0;
        }
        CAPTURE(i);
        CHECK(roc[i].threshold == double(i) / 199);
        CHECK(roc[i].true_positive_rate == doctest::Approx(hits / positive).epsilon(1e-12));
        CHECK(roc[i].false_positive_rate == doctest::Approx(alarms / negative).epsilon(1e-12));
        CHECK(pr[i].recall == roc[i].true_positive_rate);
        CHECK(pr[i].precision == doctest::Approx(i < 199 ? hits / (hits + alarms) : 1));
    }
}

TEST_CASE("replicas train with the scalars of one") {
    auto const data = samples(30);
    auto const run = [&](auto& model) {
        auto training =
            cn::compile(model, pinball_loss{.quantile = 0.8}, cn::momentum{}, correlation_metric{});
        auto const h = training.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent});
        auto all = check::everything(model);
        all.insert(all.end(), {h["loss"].back(), h["correlation"].back()});
        return all;
    };
    trained<regression> one{cn::seed{8}};
    by_two<regression> two{cn::seed{8}};
    CHECK(check::largest_difference(run(two), run(one)) < 1e-9);
}

TEST_CASE("NaN is never right") {
    trained<same<1>> one;
    auto const s = scored(one, samples_of<1>({none, none, none, none}, {1, 0, 1, 0}), cn::mse,
                          cn::precision, cn::recall, cn::f1, cn::auc);
    for (char const* name : {"precision", "recall", "f1", "auc"}) {
        CAPTURE(name);
        CHECK(s[name] == 0);
    }
    auto const half = scored(one, samples_of<1>({none, -3, 3, none}, {1, 0, 1, 0}), cn::mse,
                             cn::precision, cn::recall, cn::auc);
    CHECK(half["precision"] == 1);
    CHECK(half["recall"] == 0.5);
    CHECK(half["auc"] < 0.5);

    trained<same<5>> five;
    std::vector<float> const outputs(15, std::numeric_limits<float>::quiet_NaN());
    cn::data::dataset<cn::data::label<5>, cn::shape<5>> const data{outputs, std::vector{0, 1, 4}};
    auto const macro =
        scored(five, data, cn::cross_entropy, cn::macro_precision, cn::macro_recall, cn::macro_f1);
    for (char const* name : {"macro_precision", "macro_recall", "macro_f1"}) {
        CHECK(macro[name] == 0);
    }
}

TEST_CASE("what would divide by 0 is 0, and R2 of equal targets is 1 or 0") {
    trained<same<1>> one;
    auto const s = scored(one, samples_of<1>({-1, -2}, {0, 0}), cn::mse, cn::precision, cn::recall,
                          cn::f1, cn::auc, cn::pr_auc);
    for (char const* name : {"precision", "recall", "f1", "auc", "pr_auc"}) {
        CAPTURE(name);
        CHECK(s[name] == 0);
    }
    trained<same<2>> two;
    CHECK(scored(two, samples_of<2>({1, 3, 2, 3}, {2, 3, 2, 3}), cn::mse, cn::r2)["r2"] == 0.5);
}

TEST_CASE(
    "R2 of targets far from 0 is NaN, where it would have no digits, or exact with a center") {
    trained<same<1>> one;
    auto const far = samples_of<1>({1e6, 1e6 + 1, 1e6 + 5}, {1e6, 1e6 + 2, 1e6 + 4});
    CHECK(std::isnan(scored(one, far, cn::mse, cn::r2)["r2"]));
    CHECK(scored(one, far, cn::mse, cn::r2_metric{.center = 1e6})["r2"] == doctest::Approx(0.75));
}

TEST_CASE("logits of infinity pass all thresholds but the last, or none but the first") {
    double const infinity = std::numeric_limits<double>::infinity();
    trained<same<1>> one;
    auto const s = scored(one, samples_of<1>({infinity, -infinity}, {1, 0}), cn::mse, cn::auc,
                          cn::pr_auc, cn::precision, cn::recall);
    CHECK(s["auc"] == 1);
    CHECK(s["pr_auc"] == 1);
    CHECK(s["precision"] == 1);
    CHECK(s["recall"] == 1);
}

TEST_CASE("a checkpoint goes on with the numbers that it was written with only") {
    check::temporary_path const f{"scores"};
    auto const data = samples(20);
    auto const compiled = [](auto& model, double quantile) {
        return cn::compile(model, pinball_loss{.quantile = quantile}, cn::adam{},
                           correlation_metric{});
    };
    trained<regression> whole{cn::seed{9}}, parts{cn::seed{9}}, rest{cn::seed{9}};
    auto of_whole = compiled(whole, 0.3), of_parts = compiled(parts, 0.3),
         of_rest = compiled(rest, 0.3);
    auto const expected = of_whole.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent});
    of_parts.fit(data, {.epochs = 1,
                        .verbose = cn::verbosity::silent,
                        .checkpoint = cn::checkpoint(of_parts, f.name)});
    cn::load(of_rest, f.name);
    auto const resumed = of_rest.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent});
    CHECK(resumed["correlation"] == expected["correlation"]);
    CHECK(resumed["loss"] == expected["loss"]);
    auto other = compiled(rest, 0.4);
    CHECK_THROWS_WITH_AS(cn::load(other, f.name),
                         doctest::Contains("numbers of loss and metrics \"0.3 1\", but this "
                                           "training has \"0.4 1\""),
                         cn::file_error);
}
