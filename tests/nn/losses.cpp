// Losses against PyTorch: the loss of every sample, and the gradient of their weighted mean.
#include <castnet/nn/losses.hpp>

#include "harness.hpp"

#include <cmath>
#include <limits>

namespace cn = castnet;
using check::values, cn::shape;

static_assert(cn::Loss<cn::cross_entropy_loss<0.0F>> && !cn::Loss<cn::shape<2>>);
static_assert(cn::Metric<cn::accuracy_metric>);

namespace {

// A loss as a network of two inputs, the prediction and its target.
template <auto Loss>
struct of_two {
    constexpr auto operator()(auto prediction, auto target) const {
        return Loss(prediction, target);
    }
};

using cn::input;
template <auto Loss>
using of_logits = cn::network<of_two<Loss>{}, input<10>, input<>>;
template <auto Loss>
using of_vectors = cn::network<of_two<Loss>{}, input<10>, input<10>>;
template <auto Loss>
using of_values = cn::network<of_two<Loss>{}, input<6>, input<6>>;
template <auto Loss>
using of_three_logits = cn::network<of_two<Loss>{}, input<3>, input<>>;
template <auto Loss>
using of_three_vectors = cn::network<of_two<Loss>{}, input<3>, input<3>>;
template <auto Loss>
using of_two_values = cn::network<of_two<Loss>{}, input<2>, input<2>>;

// With names of their own: nvcc 13.0 writes invalid C++ for template arguments that are made within
// a test case.
struct of_classes : of_logits<cn::cross_entropy> {};
struct of_smoothed_classes : of_logits<cn::smoothed_cross_entropy<0.1F>> {};
struct of_probabilities : of_vectors<cn::categorical_cross_entropy> {};
struct of_decisions : of_values<cn::binary_cross_entropy> {};
struct of_squares : of_values<cn::mse> {};
struct of_distances : of_values<cn::mae> {};
struct of_huber_1 : of_values<cn::huber<1.0F>> {};
struct of_huber_half : of_values<cn::huber<0.5F>> {};

template <class Network>
void golden(std::string const& name, double tolerance = 1e-13) {
    static check::golden_file const file{"losses"};
    CAPTURE(name);
    auto r = check::layer_run::of<Network, true, 4>();
    r.set_input(file[name + "/prediction"], 0);
    r.set_input(file[name + "/target"], 1);
    values weight = file.has(name + "/weight") ? file[name + "/weight"] : values{1, 1, 1, 1};
    double const sum = weight[0] + weight[1] + weight[2] + weight[3];
    for (double& w : weight) {
        w /= sum;
    }
    r.set_grad_output(weight);
    r.run();
    values const per_sample = r.output();
    double loss = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        loss += weight[i] * per_sample[i];
    }
    check::close("per sample", per_sample, file[name + "/per_sample"], tolerance);
    check::close("loss", {loss}, file[name + "/loss"], tolerance);
    check::close("gradient", r.grad_input(), file[name + "/grad"], tolerance);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

// The loss of one sample, and its gradient by the prediction.
struct outcome {
    double loss;
    values gradient;
};
template <class Network>
outcome of_sample(values const& prediction, values const& target) {
    auto r = check::layer_run::of<Network, true, 1>();
    r.set_input(prediction, 0);
    r.set_input(target, 1);
    r.set_grad_output({1});
    r.run();
    return {r.output()[0], r.grad_input()};
}

double sum(values const& x) {
    double total = 0;
    for (double const v : x) {
        total += v;
    }
    return total;
}

struct of_three_classes : of_three_logits<cn::cross_entropy> {};
struct of_three_smoothed : of_three_logits<cn::smoothed_cross_entropy<0.5F>> {};
struct of_three_probabilities : of_three_vectors<cn::categorical_cross_entropy> {};
struct of_two_decisions : of_two_values<cn::binary_cross_entropy> {};
struct of_three_smoothed_vectors
    : of_three_vectors<cn::smoothed_categorical_cross_entropy_loss{.smoothing = 0.5}> {};
struct of_three_focused : of_three_logits<cn::focal_cross_entropy> {};
struct of_three_unfocused : of_three_logits<cn::focal_cross_entropy_loss{.alpha = 1, .gamma = 0}> {
};
struct of_two_focused : of_two_values<cn::binary_focal_cross_entropy> {};

} // namespace

TEST_CASE("cross-entropy of class numbers") {
    golden<of_classes>("cross_entropy");
    golden<of_classes>("cross_entropy_weighted");
    golden<of_classes>("cross_entropy_extreme");
    golden<of_smoothed_classes>("cross_entropy_label_smoothing",
                                1e-8); // 0.1 as a float
}

TEST_CASE("cross-entropy of probabilities") {
    golden<of_probabilities>("cross_entropy_probabilities");
    golden<of_probabilities>("cross_entropy_one_hot");
}

TEST_CASE("cross-entropy keeps the digits of large logits, and its gradient sums to 0") {
    double const expected = std::log(1 + std::exp(-1.0) + std::exp(-2.0));
    for (double const large : {0.0, 1e6, -1e12, 1e15}) {
        CAPTURE(large);
        values const logits{large, large - 1, large - 2};
        outcome const hard = of_sample<of_three_classes>(logits, {0});
        CHECK(hard.loss == doctest::Approx(expected).epsilon(1e-12));
        CHECK(std::fabs(sum(hard.gradient)) < 1e-14);
        CHECK(hard.gradient[0] == doctest::Approx(std::exp(-expected) - 1).epsilon(1e-12));
        outcome const smooth = of_sample<of_three_smoothed>(logits, {0});
        CHECK(smooth.loss == doctest::Approx(expected + 0.5).epsilon(1e-12));
        CHECK(std::fabs(sum(smooth.gradient)) < 1e-14);
        outcome const soft = of_sample<of_three_probabilities>(logits, {0.5, 0, 0.5});
        CHECK(soft.loss == doctest::Approx(expected + 1).epsilon(1e-12));
        CHECK(std::fabs(sum(soft.gradient)) < 1e-14);
    }
}

TEST_CASE("logits of minus infinity are classes that are ruled out") {
    outcome const hard = of_sample<of_three_classes>({0, -infinity, 0}, {0});
    CHECK(hard.loss == doctest::Approx(std::log(2.0)).epsilon(1e-14));
    CHECK(hard.gradient == values{-0.5, 0, 0.5});
    CHECK(of_sample<of_three_classes>({-infinity, 0, 0}, {1}).gradient == values{0, -0.5, 0.5});
    CHECK(of_sample<of_three_classes>({0, -infinity, 0}, {1}).loss == infinity);
    CHECK(of_sample<of_three_smoothed>({0, -infinity, 0}, {0}).loss == infinity);
    outcome const soft = of_sample<of_three_probabilities>({0, -infinity, 0}, {1, 0, 0});
    CHECK(soft.loss == doctest::Approx(std::log(2.0)).epsilon(1e-14));
    CHECK(soft.gradient == values{-0.5, 0, 0.5});
}

TEST_CASE("a logit that is NaN makes the loss NaN, wherever it stands") {
    for (std::size_t i = 0; i < 10; ++i) {
        values logits{3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
        logits[i] = std::numeric_limits<double>::quiet_NaN();
        CHECK(std::isnan(of_sample<of_classes>(logits, {2}).loss));
    }
}

TEST_CASE("a decision that is certain and right costs nothing") {
    outcome const right = of_sample<of_two_decisions>({infinity, -infinity}, {1, 0});
    CHECK(right.loss == 0);
    CHECK(right.gradient == values{0, 0});
    CHECK(of_sample<of_two_decisions>({infinity, -infinity}, {0, 0}).loss == infinity);
    outcome const nearly = of_sample<of_two_decisions>({40, -40}, {1, 0}); // no digit is lost
    CHECK(nearly.loss == doctest::Approx(std::exp(-40.0)).epsilon(1e-12));
}

TEST_CASE("binary cross-entropy of logits") {
    golden<of_decisions>("binary_cross_entropy_with_logits");
    golden<of_decisions>("binary_cross_entropy_with_logits_weighted");
    golden<of_decisions>("binary_cross_entropy_with_logits_extreme");
    golden<of_decisions>("binary_cross_entropy_with_logits_probabilities");
}

TEST_CASE("losses of values") {
    golden<of_squares>("mse");
    golden<of_squares>("mse_weighted");
    golden<of_distances>("l1");
    golden<of_huber_1>("huber_delta1");
    golden<of_huber_half>("huber_delta0.5");
}

TEST_CASE("smoothing of one-hot targets is that of class numbers") {
    values const logits{0.5, -1, 2};
    outcome const a = of_sample<of_three_smoothed_vectors>(logits, {0, 1, 0});
    outcome const b = of_sample<of_three_smoothed>(logits, {1});
    CHECK(a.loss == doctest::Approx(b.loss).epsilon(1e-12));
    check::close("gradient", a.gradient, b.gradient, 1e-12);
}

TEST_CASE("focal losses are cross-entropies that count less what is right") {
    values const logits{0.5, -1, 2};
    outcome const plain = of_sample<of_three_classes>(logits, {2});
    outcome const focal = of_sample<of_three_focused>(logits, {2});
    double const p = std::exp(-plain.loss), rest = 1 - p;
    CHECK(focal.loss == doctest::Approx(0.25 * rest * rest * plain.loss).epsilon(1e-12));
    values expected = plain.gradient; // times the derivative by the cross-entropy
    for (double& x : expected) {
        x *= 0.25 * (rest * rest + 2 * rest * p * plain.loss);
    }
    check::close("gradient", focal.gradient, expected, 1e-12);
    CHECK(of_sample<of_three_unfocused>(logits, {2}).loss ==
          doctest::Approx(plain.loss).epsilon(1e-12));
    for (auto const& network : {of_sample<of_three_focused>, of_sample<of_three_unfocused>}) {
        outcome const certain = network({1000, 0, 0}, {0});
        CHECK(certain.loss == 0);
        CHECK(certain.gradient == values{0, 0, 0});
    }

    // torchvision.ops.sigmoid_focal_loss
    auto const binary = [](double z, double target) {
        double const q = 1 / (1 + std::exp(-z)), p_t = target > 0 ? q : 1 - q;
        return -(target > 0 ? 0.25 : 0.75) * (1 - p_t) * (1 - p_t) * std::log(p_t);
    };
    outcome const two = of_sample<of_two_focused>({0.75, -0.5}, {1, 1});
    CHECK(two.loss == doctest::Approx((binary(0.75, 1) + binary(-0.5, 1)) / 2).epsilon(1e-12));
    outcome const other = of_sample<of_two_focused>({0.75, -0.5}, {0, 1});
    CHECK(other.loss == doctest::Approx((binary(0.75, 0) + binary(-0.5, 1)) / 2).epsilon(1e-12));
    CHECK(other.gradient[0] ==
          doctest::Approx((binary(0.75 + 1e-6, 0) - binary(0.75 - 1e-6, 0)) / 4e-6).epsilon(1e-7));
    outcome const certain = of_sample<of_two_focused>({1000, -1000}, {1, 0});
    CHECK(certain.loss == 0);
    CHECK(certain.gradient == values{0, 0});
    CHECK(of_sample<of_two_focused>({-1000, 1000}, {1, 0}).loss == 500);
}
