// Losses against PyTorch: the loss of every sample, and the gradient of their weighted mean.
#include <castnet/nn/dice.hpp>
#include <castnet/nn/likelihood_losses.hpp>
#include <castnet/nn/losses.hpp>
#include <castnet/nn/margin_losses.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/similarity_losses.hpp>

#include "golden_loss.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

namespace cn = castnet;
using check::values, cn::shape;

static_assert(cn::Loss<cn::cross_entropy_loss<0.0F>> && !cn::Loss<cn::shape<2>>);
// Numbers in template arguments are of any type.
static_assert(cn::huber<0.1>.delta.value == 0.1 && cn::huber<2>.delta.value == 2);
static_assert(std::is_same_v<decltype(cn::loss_weight<2, cn::mse>),
                             decltype(cn::loss_weight<2.0F, cn::mse>)>);
static_assert(std::is_same_v<decltype(cn::smoothed_cross_entropy<0.1>),
                             decltype(cn::smoothed_cross_entropy<0.1F>)>);
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

struct of_log_cosh : of_values<cn::log_cosh> {};
struct of_mape : of_values<cn::mape> {};
struct of_msle : of_values<cn::msle> {};
struct of_hinge : of_values<cn::hinge> {};
struct of_squared_hinge : of_values<cn::squared_hinge> {};
struct of_categorical_hinge : of_vectors<cn::categorical_hinge> {};
struct of_kl_divergence : of_vectors<cn::kl_divergence> {};
struct of_poisson_nll : of_values<cn::poisson_nll> {};
struct of_cosine_similarity : of_values<cn::cosine_similarity> {};
struct of_dice : of_values<cn::dice> {};
constexpr auto uneven_tversky = cn::tversky_loss{.alpha = 0.3, .beta = 0.7};
struct of_tversky : of_values<uneven_tversky> {};
struct of_hinge_embedding : of_values<cn::hinge_embedding> {};

// Losses of several outputs: one input for each, then the target, if any.
template <auto Loss>
struct of_several {
    constexpr auto operator()(auto... x) const { return Loss(x...); }
};
struct of_gaussian_nll : cn::network<of_several<cn::gaussian_nll>{}, input<6>, input<6>, input<6>> {
};
// (nvcc 13.0 writes invalid C++ for values without a name in the base of a struct.)
constexpr auto wide_triplet_margin = cn::triplet_margin_loss{.margin = 1.5};
struct of_triplets : cn::network<of_several<wide_triplet_margin>{}, input<6>, input<6>, input<6>> {
};
constexpr auto wide_contrastive = cn::contrastive_loss{.margin = 4};
struct of_pairs : cn::network<of_several<wide_contrastive>{}, input<6>, input<6>, input<1>> {};
constexpr auto wide_ranking = cn::margin_ranking_loss{.margin = 0.5};
struct of_ranking : cn::network<of_several<wide_ranking>{}, input<6>, input<6>, input<6>> {};
constexpr auto narrow_angle = cn::cosine_embedding_loss{.margin = 0.2};
struct of_angles : cn::network<of_several<narrow_angle>{}, input<6>, input<6>, input<1>> {};

check::golden_file const& golden_losses() {
    static check::golden_file const file{"losses"};
    return file;
}

template <class Network>
void golden_of_several(std::string const& name, std::size_t predictions) {
    check::golden_file const& file = golden_losses();
    CAPTURE(name);
    auto const of = [&](char const* what, std::size_t i) {
        return file[name + "/" + what + std::to_string(i)];
    };
    auto r = check::layer_run::of<Network, true, 4>();
    for (std::size_t i = 0; i < predictions; ++i) {
        r.set_input(of("prediction", i), i);
    }
    if (r.inputs() > predictions) {
        r.set_input(file[name + "/target"], predictions);
    }
    r.set_grad_output(values(4, 0.25));
    r.run();
    check::close("per sample", r.output(), file[name + "/per_sample"], 1e-13);
    for (std::size_t i = 0; i < predictions; ++i) {
        check::close("gradient", r.grad_input(i), of("grad", i), 1e-13);
    }
}

template <class Network>
void golden(std::string const& name, double tolerance = 1e-13) {
    check::golden_file const& file = golden_losses();
    check::golden_loss<Network>(
        file, name, file.has(name + "/weight") ? file[name + "/weight"] : values{1, 1, 1, 1},
        tolerance);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

// The loss of one sample, and its gradient with respect to the prediction.
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
constexpr auto half_smoothed = cn::smoothed_categorical_cross_entropy_loss{.smoothing = 0.5};
struct of_three_smoothed_vectors : of_three_vectors<half_smoothed> {};
struct of_three_focused : of_three_logits<cn::focal_cross_entropy> {};
constexpr auto unfocused = cn::focal_cross_entropy_loss{.alpha = 1, .gamma = 0};
struct of_three_unfocused : of_three_logits<unfocused> {};
struct of_two_focused : of_two_values<cn::binary_focal_cross_entropy> {};
struct of_two_log_cosh : of_two_values<cn::log_cosh> {};
struct of_two_hinge : of_two_values<cn::hinge> {};
struct of_two_segments : of_two_values<cn::dice> {};
struct of_two_directions : of_two_values<cn::cosine_similarity> {};

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

TEST_CASE("log_cosh keeps the digits of small errors and does not overflow for large ones") {
    golden<of_log_cosh>("log_cosh");
    outcome const small = of_sample<of_two_log_cosh>({1e-6, 0}, {0, 0});
    CHECK(small.loss == doctest::Approx(1e-12 / 4).epsilon(1e-8));
    CHECK(small.gradient[0] == doctest::Approx(1e-6 / 2).epsilon(1e-8));
    CHECK(small.gradient[1] == 0);
    outcome const large = of_sample<of_two_log_cosh>({1e4, -1e4}, {0, 0});
    CHECK(large.loss == doctest::Approx(1e4 - std::log(2.0)).epsilon(1e-14));
    CHECK(large.gradient == values{0.5, -0.5});
}

TEST_CASE("relative errors, and errors of logarithms") {
    golden<of_mape>("mape");
    golden<of_msle>("msle");
}

TEST_CASE("margin losses: what is right by 1 costs nothing") {
    golden<of_hinge>("hinge");
    golden<of_squared_hinge>("squared_hinge");
    golden<of_categorical_hinge>("categorical_hinge");
    outcome const of_zero = of_sample<of_two_hinge>({2, 0.5}, {1, 0});
    CHECK(of_zero.loss == 0.75);
    CHECK(of_zero.gradient == values{0, 0.5});
    outcome const of_minus_one = of_sample<of_two_hinge>({2, 0.5}, {1, -1});
    CHECK(of_minus_one.loss == of_zero.loss);
    CHECK(of_minus_one.gradient == of_zero.gradient);
}

TEST_CASE("losses of distributions") {
    golden<of_kl_divergence>("kl_divergence");
    golden<of_kl_divergence>("kl_divergence_one_hot");
    golden<of_poisson_nll>("poisson_nll");
    golden_of_several<of_gaussian_nll>("gaussian_nll", 2);
}

TEST_CASE("a variance of 0 counts as 1e-6") {
    auto r = check::layer_run::of<of_gaussian_nll, true, 1>();
    r.set_input(values(6, 1), 0);
    r.set_input(values(6, 0), 1);
    r.set_input(values(6, 1.5), 2);
    r.set_grad_output({1});
    r.run();
    CHECK(r.output()[0] == doctest::Approx((std::log(1e-6) + 0.25e6) / 2));
    CHECK(r.grad_input(1) == values(6, 0));
}

TEST_CASE("losses of embeddings") {
    golden<of_cosine_similarity>("cosine_similarity");
    golden_of_several<of_triplets>("triplet_margin", 3);
    golden_of_several<of_pairs>("contrastive", 2);
    golden_of_several<of_ranking>("margin_ranking", 2);
    golden_of_several<of_angles>("cosine_embedding", 2);
    golden<of_hinge_embedding>("hinge_embedding");
    outcome const none = of_sample<of_two_directions>({0, 0}, {1, 2});
    CHECK(none.loss == 0);
    CHECK(std::isfinite(none.gradient[0]));
}

TEST_CASE("equal embeddings have a gradient, and are no mistake where they should be equal") {
    auto r = check::layer_run::of<of_pairs, true, 2>();
    r.set_input(values(12, 1), 0);
    r.set_input(values(12, 1), 1);
    r.set_input({0, 1}, 2);
    r.set_grad_output({1, 1});
    r.run();
    CHECK(r.output()[0] == doctest::Approx(16).epsilon(1e-5));
    CHECK(r.output()[1] == doctest::Approx(0));
    for (double const x : r.grad_input(0)) {
        CHECK(std::isfinite(x));
    }
}

TEST_CASE("dice: twice what both have of what they have together") {
    golden<of_dice>("dice");
    golden<of_tversky>("tversky");
    CHECK(of_sample<of_two_segments>({infinity, -infinity}, {1, 0}).loss == 0);
    CHECK(of_sample<of_two_segments>({-infinity, infinity}, {1, 0}).loss == doctest::Approx(1));
    CHECK(of_sample<of_two_segments>({-infinity, -infinity}, {0, 0}).loss == 0);
}
