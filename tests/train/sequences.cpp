// Trainings whose samples are sequences, with a label for each step.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../golden.hpp"
#include "../parameters.hpp"
#include "policy.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;

namespace {

constexpr std::size_t steps = 6;

using tagger = cn::sequential<cn::input_ids<11, steps>, cn::embedding<11, 8>, cn::dense<3>>;
using tagged = cn::data::dataset<cn::data::label<3, steps>, cn::ids<11, steps>>;

// Words, each with the label word % 3; some steps at the end do not count.
tagged samples(std::size_t count) {
    std::vector<int> words, labels;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t t = 0; t < steps; ++t) {
            words.push_back(int((i * i + 5 * t) % 11));
            labels.push_back(t > i % steps ? cn::data::ignored : words.back() % 3);
        }
    }
    return tagged{words, labels};
}

std::string refusal(auto const& f) {
    try {
        f();
    } catch (cn::error const& e) {
        return e.what();
    }
    return "";
}

struct weighted_steps { // those of class 2 count three times
    static constexpr char const* name = "weighted_steps";
    static constexpr bool labels = true;
    constexpr auto operator()(auto logits, auto label) const {
        auto const weight = cn::greater_equal(label, 0) * (1 + 2 * cn::equal(label, 2));
        return cn::sum(weight * cn::cross_entropy.of_each(logits, label)) / cn::sum(weight);
    }
};
using painter = cn::sequential<cn::input<1, 2, 3>, cn::conv2d<3, 1>>;
using painted = cn::data::dataset<cn::data::label<3, 2, 3>, cn::shape<1, 2, 3>>;

// The same of logits (classes, places), which the numbers of a place need not be side by side in.
double weighted_cost(std::vector<float> const& logits, std::vector<int> const& labels,
                     std::size_t class_stride, std::size_t place_stride) {
    double sum = 0, weights = 0;
    for (std::size_t place = 0; place < labels.size(); ++place) {
        double total = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            total += std::exp(double(logits[k * class_stride + place * place_stride]));
        }
        int const label = labels[place];
        if (label >= 0) {
            double const weight = label == 2 ? 3 : 1;
            double const own =
                double(logits[std::size_t(label) * class_stride + place * place_stride]);
            sum += weight * (std::log(total) - own);
            weights += weight;
        }
    }
    return sum / weights;
}

struct heads {
    constexpr auto operator()(auto x) const {
        return cn::outputs<"size", "tag">(x | cn::flatten | cn::dense<1>, x | cn::dense<3>);
    }
};
using of_steps = cn::sequential<cn::input<steps, 5>, cn::dense<3>>;
using of_pixels = cn::sequential<cn::input<5, 4, 5>, cn::conv2d<3, 1>>;
template <class Network>
using labelled = cn::data::dataset<
    std::conditional_t<std::is_same_v<Network, of_steps>, cn::data::label<3, steps>,
                       cn::data::label<3, 4, 5>>,
    std::conditional_t<std::is_same_v<Network, of_steps>, cn::shape<steps, 5>, cn::shape<5, 4, 5>>>;

// Of samples whose weights are the numbers of labels that count: PyTorch's mean.
template <class Network, class Policy, std::size_t Batch = 4>
void class_weighted_as_torch(std::string const& name) {
    check::golden_file const golden{"sequences"};
    for (std::string const suffix : {"", "_ignored"}) {
        std::string const at = "class_weighted_" + name + suffix + "/";
        CAPTURE(at);
        auto const floats = [&](std::string const& what) {
            auto const all = golden[at + what];
            return std::vector<float>(all.begin(), all.end());
        };
        auto const target = golden[at + "target"];
        labelled<Network> const data{golden[at + "input"],
                                     std::vector<int>(target.begin(), target.end())};
        cn::model<Network, Policy, cn::batch<Batch>> model;
        model.set("0.weight", golden[at + "weight"]);
        model.set("0.bias", golden[at + "bias"]);
        auto training = cn::compile(model, cn::class_weighted<cn::cross_entropy, 3>,
                                    cn::sgd{.learning_rate = 0});
        std::vector<std::size_t> const all{0, 1, 2, 3};
        auto const scores =
            training.step(data.with_weights(floats("counted")), all, 0.0, floats("class_weight"));
        check::close("loss", {scores.loss()}, golden[at + "loss"], 1e-12);
        check::close("weight", training.gradient("0.weight"), golden[at + "grad_weight"], 1e-12);
        check::close("bias", training.gradient("0.bias"), golden[at + "grad_bias"], 1e-12);
        if (suffix.empty()) { // as many in each sample
            auto const same = training.step(data, all, 0.0, floats("class_weight"));
            check::close("loss", {same.loss()}, golden[at + "loss"], 1e-12);
        }
    }
}

} // namespace

TEST_CASE("costs of steps and pixels are weighed by their labels, in whose shape they are") {
    cn::model<tagger, check::policy, cn::batch<8>> model{cn::seed{2}};
    auto training = cn::compile(model, weighted_steps{}, cn::adam{});
    std::vector<int> const words{1, 4, 2, 0, 9, 10}, labels{0, 2, 1, cn::data::ignored, 2, 0};
    auto const logits = model.predict(tagged{words, labels});
    CHECK(std::abs(training.evaluate(tagged{words, labels}).loss() -
                   weighted_cost({logits.begin(), logits.end()}, labels, 1, 3)) < 1e-5);

    cn::model<painter, cn::policy::cpu, cn::batch<2>> paints{cn::seed{3}};
    auto painting = cn::compile(paints, weighted_steps{}, cn::adam{});
    painted const picture{std::vector<float>{1, 2, 3, -1, -2, 0}, labels};
    CHECK(std::abs(painting.evaluate(picture).loss() -
                   weighted_cost(paints.predict(picture), labels, 6, 1)) < 1e-5);
}

TEST_CASE("a network learns a label for each step") {
    cn::model<tagger, check::policy, cn::batch<8>> model{cn::seed{2}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.05},
                                cn::accuracy, cn::perplexity);
    auto const data = samples(30);
    auto const history = training.fit(data, {.epochs = 40, .verbose = cn::verbosity::silent});
    CHECK(history["accuracy"].back() == 1);
    CHECK(history["perplexity"].back() < 1.2);
    CHECK(history["loss"].back() < 0.2);
}

TEST_CASE("a network learns labels that have no places") {
    using network = cn::sequential<cn::input<steps, 3>, cn::dense<3>>;
    using targets = cn::data::targets<cn::data::label<3, 2>, cn::shape<>>;
    std::vector<float> signals, lengths;
    std::vector<int> labels;
    for (std::size_t i = 0; i < 16; ++i) { // a signal, silence, another one; noise behind that
        std::size_t const first = 1 + i % 2, second = 1 + i / 2 % 2, end = 4 + i % 3;
        for (std::size_t t = 0; t < steps; ++t) {
            std::size_t const now = t < 2 ? first : t == 3 ? second : 0;
            for (std::size_t k = 0; k < 3; ++k) {
                signals.push_back(t < end ? float(k == now) : float(k == 2));
            }
        }
        labels.insert(labels.end(), {int(first), i < 12 ? int(second) : cn::data::ignored});
        lengths.push_back(i < 12 ? float(end) : 3);
    }
    cn::data::dataset<targets, cn::shape<steps, 3>> const data{signals, labels, lengths};
    cn::model<network, check::policy, cn::batch<8>> model{cn::seed{2}};
    auto training =
        cn::compile(model, cn::ctc<3, 2>.with_lengths(), cn::adam{.learning_rate = 0.1});
    training.fit(data, {.epochs = 60, .verbose = cn::verbosity::silent});
    CHECK(training.evaluate(data).loss() < 0.1);
}

// The steps of all samples count alike in metrics; in the loss the samples do, as their weights
// say.
TEST_CASE("metrics are those of all steps, the loss is that of the samples") {
    cn::model<tagger, check::policy, cn::batch<8>> model{cn::seed{2}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy, cn::perplexity);
    auto const data = samples(21);
    auto const logits = model.predict(data);
    double hits = 0, count = 0, all_costs = 0, mean_costs = 0;
    std::vector<float> counted;
    for (std::size_t i = 0; i < data.size(); ++i) {
        double labels[steps], costs = 0, of_sample = 0;
        data.copy_target(i, labels);
        for (std::size_t t = 0; t < steps; ++t) {
            if (labels[t] < 0) {
                continue;
            }
            double const* const z = logits.data() + (i * steps + t) * 3;
            auto const label = std::size_t(labels[t]);
            costs += std::log(std::exp(z[0]) + std::exp(z[1]) + std::exp(z[2])) - z[label];
            hits += std::max_element(z, z + 3) == z + label;
            of_sample += 1;
        }
        all_costs += costs;
        mean_costs += costs / of_sample;
        count += of_sample;
        counted.push_back(float(of_sample));
    }
    auto const scores = training.evaluate(data);
    CHECK(scores.loss() == doctest::Approx(mean_costs / double(data.size())));
    CHECK(scores["accuracy"] == doctest::Approx(hits / count));
    CHECK(scores["perplexity"] == doctest::Approx(std::exp(all_costs / count)));
    CHECK(training.evaluate(data.with_weights(counted)).loss() ==
          doctest::Approx(all_costs / count));
}

TEST_CASE("a label of a step is a class number or data::ignored") {
    std::vector<int> const words(2 * steps);
    std::vector<int> labels(2 * steps, 2);
    labels[1] = cn::data::ignored;
    CHECK(tagged{words, labels}.size() == 2);
    for (int const wrong : {-1, 3}) {
        labels[steps + 4] = wrong;
        CHECK(refusal([&] { tagged{words, labels}; }) ==
              cn::string_of({"castnet: dataset: the label at position 4 of sample 1 is ", wrong,
                             ", expected a whole number from 0 to 2, or data::ignored"}));
    }
}

TEST_CASE("class weights of steps and pixels are PyTorch's") {
    class_weighted_as_torch<of_steps, check::policy>("steps");
    class_weighted_as_torch<of_pixels, check::policy>("pixels");
    class_weighted_as_torch<of_steps, cn::policy::logical<check::policy, 2>, 2>("steps");
    class_weighted_as_torch<of_pixels, cn::policy::logical<check::policy, 2>, 2>("pixels");
}

TEST_CASE("class weights of one label are those of the sample, with such a loss, too") {
    using net = cn::sequential<cn::input<2>, cn::dense<3>>;
    cn::data::dataset<cn::data::label<3>, cn::shape<2>> const data{
        std::vector<float>{1, 0, 0, 1, 1, 1, 0, 2}, std::vector{0, 1, 2, 1}};
    auto const after = [&](auto const& loss, std::vector<float> const& class_weight) {
        cn::model<net, check::policy, cn::batch<3>> model{cn::seed{1}};
        auto training = cn::compile(model, loss, cn::sgd{});
        training.fit(data, {.class_weight = class_weight, .verbose = cn::verbosity::silent});
        return model.get("0.weight");
    };
    auto const weighted = cn::class_weighted<cn::cross_entropy, 3>;
    CHECK(check::largest_difference(after(weighted, {1, 2, 3}),
                                    after(cn::cross_entropy, {1, 2, 3})) < 1e-14);
    CHECK(check::largest_difference(after(weighted, {}), after(cn::cross_entropy, {})) < 1e-14);
}

TEST_CASE("class weights of steps need a loss that takes them") {
    cn::model<tagger, check::policy, cn::batch<8>> model{cn::seed{2}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    CHECK(refusal([&] { training.fit(samples(8), {.epochs = 1, .class_weight = {1, 2, 1}}); }) ==
          "castnet: fit: class_weight of labels of steps or pixels needs a loss that weighs "
          "each: cn::class_weighted<cn::cross_entropy, 3>");
    auto weighing = cn::compile(model, cn::class_weighted<cn::focal_cross_entropy, 3>, cn::adam{});
    CHECK(refusal([&] {
              weighing.fit(samples(8), {.class_weight = {1, 2}});
          }).find("class_weight holds 2 factors") != std::string::npos);
    weighing.fit(samples(8), {.class_weight = {1, 0, 0}, .verbose = cn::verbosity::silent});
    CHECK(std::isfinite(weighing.evaluate(samples(8)).loss()));
}

TEST_CASE("class weights of steps are those of the loss of their output") {
    using two_heads = cn::network<heads{}, cn::input<2, 2>>;
    using sizes_and_tags = cn::data::targets<cn::shape<1>, cn::data::label<3, 2>>;
    cn::data::dataset<sizes_and_tags, cn::shape<2, 2>> const data{
        std::vector<float>{1, 0, 0, 1, 1, 1, 0, 2}, std::vector<float>{1, 2},
        std::vector{0, 1, 2, 1}};
    cn::model<two_heads, check::policy, cn::batch<2>> model{cn::seed{1}};
    auto training = cn::compile(
        model, cn::losses<cn::huber<0.5>, cn::class_weighted<cn::cross_entropy, 3>>, cn::sgd{});
    std::vector<std::size_t> const all{0, 1};
    std::vector<float> const weights{1, 2, 5};
    auto const found = training.step(data, all, 0.0, weights)["tag_loss"];
    auto const z = model.template predict<1>(data);
    double sum = 0, total = 0;
    int const labels[] = {0, 1, 2, 1};
    for (std::size_t i = 0; i < 4; ++i) {
        double const* const of = z.data() + 3 * i;
        auto const label = std::size_t(labels[i]);
        sum += double(weights[label]) *
               (std::log(std::exp(of[0]) + std::exp(of[1]) + std::exp(of[2])) - of[label]);
        total += double(weights[label]);
    }
    CHECK(found == doctest::Approx(sum / total).epsilon(1e-12));
}
