// fit: epochs, order, schedule, validation, history and stopping.
#include <castnet/castnet.hpp>
#include <castnet/data/label_encoding.hpp>
#include <castnet/data/weights.hpp>

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>

namespace cn = castnet;

namespace {

using network = cn::sequential<cn::input<4>, cn::dense<6>, cn::tanh, cn::dense<3>>;
using model_type = cn::model<network, cn::policy::cpu, cn::batch<8>>;
using data_type = cn::data::dataset<cn::data::label<3>, cn::shape<4>>;
constexpr auto silent = cn::verbosity::silent;

data_type points(std::size_t count) {
    return cn::data::blobs<3, 4>(count, 2);
}
auto training_of(model_type& model) {
    return cn::compile(model, cn::cross_entropy, cn::sgd{.learning_rate = 0.05}, cn::accuracy);
}

} // namespace

TEST_CASE("without shuffling an epoch is the steps in the order of the data") {
    auto const data = points(20);
    model_type a{cn::seed{1}}, b{cn::seed{1}};
    auto fitted = training_of(a), stepped = training_of(b);
    auto const history = fitted.fit(data, {.epochs = 2, .shuffle = false, .verbose = silent});
    std::vector<std::size_t> order(20);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::span<std::size_t const> const all{order};
    cn::scores<cn::score<cn::accuracy_metric>> sums;
    for (int epoch = 0; epoch < 2; ++epoch) {
        sums = {};
        sums += stepped.step(data, all.first(8));
        sums += stepped.step(data, all.subspan(8, 8));
        sums += stepped.step(data, {16, 17, 18, 19}); // that are left
    }
    CHECK(a.get("0.weight") == b.get("0.weight"));
    CHECK(history["loss"][1] == sums.loss());
    CHECK(history["accuracy"][1] == sums["accuracy"]);
    CHECK(sums.weight == 20);
    CHECK(fitted.steps() == 6);
}

TEST_CASE("shuffling takes another order every epoch, and every sample once") {
    auto const data = points(16);
    auto const loss_after = [&](bool shuffle, int epochs) {
        model_type model{cn::seed{1}};
        auto training = training_of(model);
        training.fit(data, {.epochs = epochs, .shuffle = shuffle, .verbose = silent});
        return training.evaluate(data).loss();
    };
    CHECK(loss_after(true, 1) != loss_after(false, 1));
    CHECK(loss_after(true, 2) == loss_after(true, 2));

    // Two calls go on with new orders: as one call with two epochs.
    model_type model{cn::seed{1}};
    auto training = training_of(model);
    training.fit(data, {.verbose = silent});
    training.fit(data, {.verbose = silent});
    CHECK(training.evaluate(data).loss() == loss_after(true, 2));
}

TEST_CASE("the history has a column for every number") {
    model_type model;
    auto training = training_of(model);
    auto const schedule = [](std::uint64_t step, std::uint64_t total) {
        return 0.01 * double(step + 1) / double(total);
    };
    auto const h = training.fit(
        points(20),
        {.epochs = 3, .schedule = schedule, .validation = points(7), .verbose = silent});
    CHECK(h.names() == std::vector<std::string>{"loss", "accuracy", "val_loss", "val_accuracy",
                                                "learning_rate", "seconds", "waiting"});
    CHECK(h.epochs() == 3);
    CHECK(h["val_loss"].size() == 3);
    CHECK(h["learning_rate"][0] == doctest::Approx(0.01 * 3 / 9)); // of the epoch's last step
    CHECK(h["learning_rate"][2] == doctest::Approx(0.01));
    CHECK(h["val_loss"][2] == training.evaluate(points(7)).loss());
    CHECK_THROWS_WITH_AS(h["precision"],
                         "castnet: history has no column 'precision'; it has loss, accuracy, "
                         "val_loss, val_accuracy, learning_rate, seconds, waiting",
                         cn::error);
    auto const alone = training.fit(points(7), {.verbose = silent});
    CHECK_THROWS_WITH_AS(alone["val_loss"],
                         "castnet: history has no column 'val_loss'; it has loss, accuracy, "
                         "learning_rate, seconds, waiting; those of validation need "
                         "fit_options::validation",
                         cn::error);
}

TEST_CASE("the end of an epoch can end the training") {
    model_type model;
    auto training = training_of(model);
    int called = 0;
    auto const h = training.fit(
        points(16),
        {.epochs = 10, .verbose = silent, .on_epoch_end = [&](cn::epoch_report& report) {
             CHECK(report.epoch == ++called);
             CHECK(report.history.epochs() == std::size_t(called));
             report.stop = report.epoch == 4;
         }});
    CHECK(called == 4);
    CHECK(h.epochs() == 4);
    CHECK(training.steps() == 8);
}

TEST_CASE("no epochs change nothing, no samples are refused") {
    model_type model;
    auto training = training_of(model);
    auto const before = model.get("0.weight");
    auto const none = training.fit(points(16), {.epochs = 0, .verbose = silent});
    CHECK(none.epochs() == 0);
    CHECK(none["loss"].empty());
    CHECK_THROWS_WITH_AS(none["loss"].back(), doctest::Contains("no epoch was trained"), cn::error);
    CHECK_THROWS_AS(none["loss"].front(), cn::error);
    CHECK(model.get("0.weight") == before);
    CHECK_THROWS_AS(training.fit(points(0), {.verbose = silent}), cn::error);
    CHECK_THROWS_WITH_AS(training.evaluate(points(0)),
                         "castnet: evaluate: the data set holds no sample", cn::error);
    CHECK_THROWS_AS(training.evaluate(points(2).with_weights({0, 0})), cn::error);
    CHECK_THROWS_AS(training.fit(points(16), {.validation = points(0), .verbose = silent}),
                    cn::error);
    CHECK_THROWS_WITH_AS(training.fit(points(16), {.epochs = -3, .verbose = silent}),
                         "castnet: fit: -3 epochs, expected a number from 0", cn::error);
    CHECK(model.get("0.weight") == before);
}

TEST_CASE("class weights of a fit") {
    auto const data = points(9); // classes 0 1 2 0 1 2 …
    model_type a{cn::seed{1}}, b{cn::seed{1}};
    auto by_class = training_of(a), by_sample = training_of(b);
    auto const weighted = data.with_weights({1, 2, 0, 1, 2, 0, 1, 2, 0});
    by_class.fit(data, {.epochs = 2, .class_weight = {1, 2, 0}, .verbose = silent});
    by_sample.fit(weighted, {.epochs = 2, .verbose = silent});
    CHECK(a.get("0.weight") == b.get("0.weight"));
}

TEST_CASE("an optimizer's numbers are checked when it is compiled, rates at every step") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    model_type model;
    auto const refusal = [&](auto const& optimizer) {
        try {
            (void)cn::compile(model, cn::cross_entropy, optimizer);
        } catch (cn::error const& e) {
            return std::string{e.what()};
        }
        return std::string{};
    };
    CHECK(refusal(cn::adam{.beta_1 = 1}) ==
          "castnet: adam: beta_1 is 1, expected a number from 0 to below 1");
    CHECK(refusal(cn::sgd{.learning_rate = -1}) ==
          "castnet: sgd: learning_rate is -1, expected a finite number that is not negative");
    CHECK(refusal(cn::sgd{.learning_rate = nan}) != "");
    CHECK(refusal(cn::sgd{.learning_rate = 1e300}) != "");
    CHECK(refusal(cn::adam{.epsilon = nan}) != "");

    auto training = training_of(model);
    auto const before = model.get("0.weight");
    std::size_t const samples[] = {0, 1, 2};
    for (double rate : {nan, -0.1, 1e300}) {
        CHECK_THROWS_AS(training.step(points(3), samples, rate), cn::error);
        auto const schedule = [&](std::uint64_t, std::uint64_t) { return rate; };
        CHECK_THROWS_AS(training.fit(points(3), {.schedule = schedule, .verbose = silent}),
                        cn::error);
    }
    CHECK(model.get("0.weight") == before);
    CHECK(training.steps() == 0);
}

TEST_CASE("a batch larger than the stack is evaluated") {
    using linear = cn::sequential<cn::input<4>, cn::dense<3>>;
    cn::model<linear, cn::policy::cpu, cn::batch<1'100'000>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    CHECK(training.evaluate(points(20)).weight == 20);
}

namespace {

// A data set of the user's own: three samples, of which the last has this label and this weight.
struct own_data {
    using target_type = cn::data::label<3>;
    template <std::size_t>
    using input_shape = cn::shape<4>;
    static constexpr std::size_t input_count = 1;
    float last_label = 2, last_weight = 1, other_weights = 1;

    std::size_t size() const { return 3; }
    template <std::size_t, class T>
    void copy_input(std::size_t sample, T* out) const {
        std::fill_n(out, 4, T(sample));
    }
    template <class T>
    void copy_target(std::size_t sample, T* out) const {
        *out = sample == 2 ? T(last_label) : T(sample);
    }
    float weight(std::size_t sample) const { return sample == 2 ? last_weight : other_weights; }
};

struct two_outputs {
    constexpr auto operator()(auto x) const {
        return cn::outputs<"size", "kinds">(x | cn::dense<1>, x | cn::dense<2>);
    }
};

} // namespace

TEST_CASE("targets of binary decisions that are no probabilities are refused") {
    using both_decisions = cn::network<two_outputs{}, cn::input<2>>;
    using targets_of_both = cn::data::targets<cn::shape<1>, cn::shape<2>>;
    float const nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> const x{1, 2, 3, 4, 5, 6};
    auto const refusal = [&](auto loss, float third) {
        cn::model<both_decisions, cn::policy::cpu, cn::batch<2>> model;
        auto training = cn::compile(model, loss, cn::sgd{});
        auto const before = model.get("dense_1.weight");
        cn::data::dataset<targets_of_both, cn::shape<2>> const data{
            x, std::vector<float>{7, -8, 900}, std::vector<float>{0, 0.25F, 1, 1, 0, third}};
        try {
            training.step(data, {0, 2});
        } catch (cn::error const& e) {
            CHECK(model.get("dense_1.weight") == before);
            CHECK_THROWS_AS(training.evaluate(data), cn::error);
            return std::string{e.what()};
        }
        return std::string{};
    };
    constexpr auto both = cn::losses<cn::mse, cn::loss_weight<0.5, cn::binary_cross_entropy>>;
    CHECK(refusal(both, 1) == "");
    CHECK(refusal(both, 255) == "castnet: the target at position 1 of sample 2 is 255, expected a "
                                "probability, from 0 to 1");
    CHECK(refusal(both, -1) != "");
    CHECK(refusal(both, nan) != "");
    CHECK(refusal(cn::losses<cn::mse, cn::binary_focal_cross_entropy>, 1.5F) != "");
    CHECK(refusal(cn::losses<cn::mse, cn::dice>, -0.5F) != "");
    CHECK(refusal(cn::losses<cn::mse, cn::tversky>, 2) != "");
    CHECK(refusal(cn::losses<cn::mse, cn::mse>, 255) == "");

    cn::model<cn::sequential<cn::input<2>, cn::dense<1>>, cn::policy::cpu, cn::batch<2>> model;
    auto training = cn::compile(model, cn::binary_cross_entropy, cn::sgd{});
    cn::data::dataset<cn::shape<1>, cn::shape<2>> const data{x, std::vector<float>{0, 1, 2}};
    CHECK_THROWS_WITH_AS(training.fit(data, {.verbose = silent}),
                         "castnet: the target of sample 2 is 2, expected a probability, from 0 to "
                         "1",
                         cn::error);
}

TEST_CASE("weights and labels that are none are refused, and nothing changes") {
    float const nan = std::numeric_limits<float>::quiet_NaN();
    float const most = std::numeric_limits<float>::max();
    model_type model;
    auto training = training_of(model);
    auto const before = model.get("0.weight");
    std::size_t const all[] = {0, 1, 2};
    auto const refusal = [&](own_data const& data, std::vector<float> const& class_weight = {}) {
        std::string message;
        try {
            training.step(data, all, {}, class_weight);
        } catch (cn::error const& e) {
            message = e.what();
        }
        CHECK_THROWS_AS(training.fit(data, {.class_weight = class_weight, .verbose = silent}),
                        cn::error);
        CHECK(model.get("0.weight") == before);
        return message;
    };
    CHECK(refusal({.last_label = 3}) ==
          "castnet: the label of sample 2 is 3, expected a whole number from 0 to 2");
    CHECK(refusal({.last_label = -100}) ==
          "castnet: the label of sample 2 is -100, expected a whole number from 0 to 2; where "
          "samples may lack a label, the target is label<classes, 1>, and the output has "
          "shape<1, classes> by reshape");
    CHECK(refusal({.last_label = 1.5F}) != "");
    CHECK(refusal({.last_label = -1}) != "");
    CHECK(refusal({.last_label = nan}) != "");
    CHECK(refusal({.last_weight = -1}) ==
          "castnet: the weight of sample 2 is -1, expected a finite number that is not negative");
    CHECK(refusal({.last_weight = nan}) != "");
    CHECK(refusal({.last_weight = most}).find("sum to 3.40282e+38") != std::string::npos);
    CHECK(refusal({}, {1, 1}) == "castnet: step: class_weight holds 2 factors, but the labels of "
                                 "the data set have 3 classes; give one factor for each class");
    CHECK(refusal({}, {1, 1, 1, 1}) != "");
    CHECK(refusal({}, {1, 1, nan}) != "");
    CHECK(refusal({}, {1, 1, -1}) != "");

    CHECK(refusal({.last_weight = 1e-45F, .other_weights = 0}) != "");
    CHECK(model.get("0.weight") == before);
}

TEST_CASE("class weights are refused where targets are real numbers") {
    cn::model<cn::sequential<cn::input<4>, cn::dense<2>>, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::mse, cn::sgd{});
    std::vector<float> const x(12), y{-1.5F, 0, 2.7F, 1, 1, 0};
    cn::data::dataset<cn::shape<2>, cn::shape<4>> const data{x, y};
    CHECK_THROWS_WITH_AS(training.fit(data, {.class_weight = {1, 1}, .verbose = silent}),
                         doctest::Contains("class_weight needs"), cn::error);
}

TEST_CASE("class weights of targets that are 0 or 1 are weights of their samples") {
    using net = cn::sequential<cn::input<2>, cn::dense<1>>;
    auto const x = std::vector<float>{1, 0, 0, 1, 1, 1, 0, 0, 2, 1};
    auto const weights_after = [](auto const& data, std::vector<float> const& class_weight) {
        cn::model<net, cn::policy::cpu, cn::batch<2>> model{cn::seed{1}};
        auto training = cn::compile(model, cn::binary_cross_entropy, cn::sgd{});
        training.fit(data, {.epochs = 2, .class_weight = class_weight, .verbose = silent});
        return model.get("0.weight");
    };
    auto const y = std::vector<int>{0, 1, 1, 0, 1};
    std::vector<float> const weights{1, 3, 3, 1, 3};
    cn::data::dataset<cn::shape<1>, cn::shape<2>> const numbers{x, y};
    cn::data::dataset<cn::data::label<2>, cn::shape<2>> const labels{x, y};
    auto const expected = weights_after(numbers.with_weights(weights), {});
    CHECK(weights_after(numbers, {1, 3}) == expected);
    CHECK(weights_after(cn::data::binary(labels), {1, 3}) == expected);
    CHECK(weights_after(cn::data::with_weights(cn::data::binary(labels), weights), {}) == expected);
    CHECK(weights_after(numbers, {}) != expected);

    CHECK_THROWS_WITH_AS(weights_after(numbers, {1, 1, 1}),
                         doctest::Contains("3 factors, but the numbers of the data set have 2"),
                         cn::error);
    cn::data::dataset<cn::shape<1>, cn::shape<2>> const soft{x,
                                                             std::vector{0.F, 1.F, 0.5F, 1.F, 0.F}};
    CHECK_THROWS_WITH_AS(
        weights_after(soft, {1, 3}),
        doctest::Contains(
            "class_weight: the label of sample 2 is 0.5, expected a whole number from 0 to 1"),
        cn::error);
    CHECK_THROWS_WITH_AS(cn::data::with_weights(numbers, {1, 2}),
                         doctest::Contains("data::with_weights: found 2 weights, expected one for "
                                           "each of the 5 samples"),
                         cn::error);
    CHECK_THROWS_AS(cn::data::with_weights(numbers, {1, 2, -1, 1, 1}), cn::error);
}

TEST_CASE("class weights of labels that samples may lack leave those without as they are") {
    using net = cn::sequential<cn::input<2>, cn::dense<3>, cn::reshape<1, 3>>;
    cn::data::dataset<cn::data::label<3, 1>, cn::shape<2>> const data{
        std::vector<float>{1, 0, 0, 1, 1, 1, 0, 2}, std::vector{0, cn::data::ignored, 2, 1}};
    auto const after = [](auto const& samples, std::vector<float> const& class_weight) {
        cn::model<net, cn::policy::cpu, cn::batch<3>> model{cn::seed{1}};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        training.fit(samples, {.class_weight = class_weight, .verbose = silent});
        return model.get("0.weight");
    };
    CHECK(after(data, {1, 2, 3}) == after(data.with_weights({1, 1, 3, 2}), {}));
    CHECK(after(data, {1, 2, 3}) != after(data, {}));
}

TEST_CASE("validation data may be of another type than training data") {
    model_type model;
    auto training = training_of(model);
    auto const h = training.fit(points(8), {.validation = own_data{}, .verbose = silent});
    CHECK(h["val_loss"].back() == training.evaluate(own_data{}).loss());
}

TEST_CASE("a loss that is NaN ends a fit, or is a warning") {
    std::vector<float> x(20 * 4, 0.5F);
    x[4 * 17] = std::numeric_limits<float>::quiet_NaN();
    data_type const data{x, std::vector<int>(20, 1)};
    model_type model;
    auto training = training_of(model);
    int written = 0;
    cn::checkpoint_options const checkpoint{[&] { ++written; }, 1};
    auto const before = [&] {
        model_type other;
        auto one = training_of(other);
        return one.fit(data.take(16), {.shuffle = false, .verbose = silent})["loss"][0];
    }();
    CHECK_THROWS_WITH_AS(
        training.fit(data, {.shuffle = false, .verbose = silent, .checkpoint = checkpoint}),
        doctest::Contains(cn::string_of({"castnet: fit: the loss is NaN or infinite after step 3 "
                                         "of epoch 1 (its mean before was ",
                                         before, "); "})
                              .c_str()),
        cn::error);
    CHECK(written == 2); // the checkpoint stays that of the step before
    CHECK(std::isnan(training.fit(data, {.verbose = silent, .allow_nan = true})["loss"][0]));

    model_type sound;
    auto validated = training_of(sound);
    CHECK_THROWS_WITH_AS(validated.fit(data.take(8), {.validation = data, .verbose = silent}),
                         doctest::Contains("on the validation data after epoch 1"), cn::error);
}
