// Losses and metrics of steps and pixels, against PyTorch: each of several predictions of a sample
// has a class number, and some do not count.
#include <castnet/nn/ctc.hpp>
#include <castnet/nn/likelihood_losses.hpp>
#include <castnet/nn/metrics.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/permute.hpp>
#include <castnet/nn/tensor_functions.hpp>

#include "golden_loss.hpp"

#include <cmath>
#include <limits>

namespace cn = castnet;
using check::layer_run, check::values;
using cn::ids, cn::input, cn::input_ids, cn::shape;

namespace {

template <auto Scored>
struct of_two {
    constexpr auto operator()(auto prediction, auto target) const {
        return Scored(prediction, target);
    }
};

// With names of their own, for nvcc 13.0.
struct of_steps : cn::network<of_two<cn::cross_entropy>{}, input<6, 7>, input_ids<7, 6>> {};
struct of_pixels : cn::network<of_two<cn::cross_entropy>{}, input<7, 4, 5>, input_ids<7, 4, 5>> {};
struct of_smoothed_steps
    : cn::network<of_two<cn::smoothed_cross_entropy<0.1F>>{}, input<6, 7>, input_ids<7, 6>> {};
struct of_smoothed_pixels
    : cn::network<of_two<cn::smoothed_cross_entropy<0.1F>>{}, input<7, 4, 5>, input_ids<7, 4, 5>> {
};
struct of_one_step : cn::network<of_two<cn::cross_entropy>{}, input<1, 7>, input_ids<7, 1>> {};
struct hits : cn::network<of_two<cn::accuracy>{}, input<3, 4>, input_ids<4, 3>> {};
struct hits_of_two : cn::network<of_two<cn::top_k<2>>{}, input<3, 4>, input_ids<4, 3>> {};
struct pixels_of_two : cn::network<of_two<cn::top_k<2>>{}, input<4, 1, 3>, input_ids<4, 1, 3>> {};
struct costs : cn::network<of_two<cn::perplexity>{}, input<3, 4>, input_ids<4, 3>> {};
struct without_2
    : cn::network<of_two<cn::ignore_index<2, cn::cross_entropy>>{}, input<3, 4>, input_ids<4, 3>> {
};
struct with_all : cn::network<of_two<cn::cross_entropy>{}, input<3, 4>, input_ids<4, 3>> {};
struct hits_without_2
    : cn::network<of_two<cn::ignore_index<2>(cn::accuracy)>{}, input<3, 4>, input_ids<4, 3>> {};

// The mean of a loss of vectors over three steps
template <auto Scored>
struct step_by_step {
    constexpr auto operator()(auto prediction, auto target) const {
        auto const of = [&](std::size_t step) {
            return Scored(cn::select<0>(prediction, step), cn::select<0>(target, step));
        };
        return (of(0) + of(1) + of(2)) / 3;
    }
};
template <auto Scored>
struct pixels_as_steps { // of an image of three pixels
    constexpr auto operator()(auto prediction, auto target) const {
        auto const image = cn::reshape<4, 1, 3>;
        auto const turned = [&](auto x) { return x | cn::permute<1, 0> | image; };
        return Scored(turned(prediction), turned(target));
    }
};

struct all_labels {
    constexpr auto operator()(auto... x) const { return cn::ctc<5, 3>(x...); }
};
struct ctc_of_second {
    constexpr auto operator()(auto label, auto x) const { return cn::ctc<5, 3>(x, label); }
};
struct labels_of_some_steps {
    constexpr auto operator()(auto... x) const {
        return cn::ctc<5, 3>.with_lengths().zero_infinity()(x...);
    }
};
struct of_labels : cn::network<all_labels{}, input<6, 5>, input_ids<5, 3>> {};
struct labels_first : cn::network<ctc_of_second{}, input_ids<5, 3>, input<6, 5>> {};
struct of_three_steps : cn::network<all_labels{}, input<3, 5>, input_ids<5, 3>> {};
struct of_some_steps : cn::network<labels_of_some_steps{}, input<6, 5>, input_ids<5, 3>, input<>> {
};

template <class Network>
void golden_ctc(std::string const& name) {
    static check::golden_file const file{"sequences"};
    CAPTURE(name);
    auto r = layer_run::of<Network, true, 4>();
    r.set_input(file[name + "/prediction"], 0);
    r.set_input(file[name + "/target"], 1);
    if (r.inputs() > 2) {
        r.set_input(file[name + "/lengths"], 2);
    }
    r.set_grad_output({1, 1, 1, 1});
    r.run();
    check::close("per sample", r.output(), file[name + "/per_sample"], 1e-12);
    check::close("gradient", r.grad_input(), file[name + "/grad"], 1e-12);
}

template <class Network>
void golden(std::string const& name, double tolerance = 1e-13) {
    static check::golden_file const file{"sequences"};
    // with weights such that steps count alike, as in PyTorch's mean
    check::golden_loss<Network>(file, name, file[name + "/counted"], tolerance);
}

template <class Network>
values of(values const& prediction, values const& target) {
    auto r = layer_run::of<Network, true, 1>();
    r.set_input(prediction, 0);
    r.set_input(target, 1);
    r.set_grad_output(values(r.output().size(), 1));
    r.run();
    return r.output();
}

values const three_steps{0, 3, 1, 2, /**/ 5, 1, 0, 0, /**/ 1, 2, 4, 0};
constexpr int no_label = cn::data::ignored;

} // namespace

TEST_CASE("cross_entropy of steps and pixels") {
    golden<of_steps>("cross_entropy_steps");
    golden<of_steps>("cross_entropy_steps_ignored");
    golden<of_smoothed_steps>("cross_entropy_steps_smoothed", 1e-8); // 0.1F is no 0.1
    golden<of_pixels>("cross_entropy_pixels");
    golden<of_pixels>("cross_entropy_pixels_ignored");
    golden<of_smoothed_pixels>("cross_entropy_pixels_smoothed", 1e-8);
}

namespace {

template <class Found, class Expected>
void same_losses(values const& target) {
    auto found = layer_run::of<Found, true, 2>(), expected = layer_run::of<Expected, true, 2>();
    for (layer_run* r : {&found, &expected}) {
        r->set_input(check::random_values(24, 1), 0);
        r->set_input(target, 1);
        r->set_grad_output({1, 0.5});
        r->run();
    }
    check::close("per sample", found.output(), expected.output(), 1e-14);
    check::close("gradient", found.grad_input(), expected.grad_input(), 1e-14);
}

template <auto Scored>
void of_steps_as_of_vectors(values const& target) {
    using network = cn::network<of_two<Scored>{}, input<3, 4>, input<3, 4>>;
    same_losses<network, cn::network<step_by_step<Scored>{}, input<3, 4>, input<3, 4>>>(target);
    same_losses<network, cn::network<pixels_as_steps<Scored>{}, input<3, 4>, input<3, 4>>>(target);
}

} // namespace

TEST_CASE("losses of steps and pixels are the means of those of vectors") {
    values const shares{0.5, 0.5, 0, 0, /**/ 0, 0,    1,    0, /**/ 0.1, 0.2, 0.3, 0.4,
                        1,   0,   0, 0, /**/ 0, 0.75, 0.25, 0, /**/ 0,   0,   0,   1};
    of_steps_as_of_vectors<cn::categorical_cross_entropy>(shares);
    of_steps_as_of_vectors<cn::smoothed_categorical_cross_entropy>(shares);
    of_steps_as_of_vectors<cn::kl_divergence>(shares);

    using steps = cn::network<of_two<cn::focal_cross_entropy>{}, input<3, 4>, input_ids<4, 3>>;
    using each = cn::network<step_by_step<cn::focal_cross_entropy>{}, input<3, 4>, input_ids<4, 3>>;
    same_losses<steps, each>({2, 0, 3, 1, 1, 0});
}

TEST_CASE("a focal loss leaves out steps without a label") {
    struct focal : cn::network<of_two<cn::focal_cross_entropy>{}, input<3, 4>, input_ids<4, 3>> {};
    struct focal_step
        : cn::network<of_two<cn::focal_cross_entropy>{}, input<1, 4>, input_ids<4, 1>> {};
    double const of_second = of<focal_step>({5, 1, 0, 0}, {1})[0];
    CHECK(of<focal>(three_steps, {no_label, 1, no_label})[0] == doctest::Approx(of_second));
    CHECK(of<focal>(three_steps, {no_label, no_label, no_label}) == values{0});
}

TEST_CASE("categorical_accuracy of steps is the share of those that are right") {
    struct right : cn::network<of_two<cn::categorical_accuracy>{}, input<3, 4>, input<3, 4>> {};
    CHECK(of<right>(three_steps, {0, 1, 0, 0, /**/ 0, 1, 0, 0, /**/ 0, 0, 1, 0})[0] ==
          doctest::Approx(2.0 / 3));
}

TEST_CASE("ctc") {
    golden_ctc<of_labels>("ctc");
    golden_ctc<of_some_steps>("ctc_lengths");

    check::against_finite_differences(layer_run::of<labels_first, true, 2>(), 1e-7,
                                      {1, 2, no_label, 3, 3, 4});
}

TEST_CASE("ctc is infinite where there are too few steps for the labels") {
    auto r = layer_run::of<of_three_steps, true, 1>();
    r.set_input(values(15, 1), 0);
    r.set_input({2, 2, 1}, 1); // and a blank between the first two
    r.set_grad_output({1});
    r.run();
    CHECK(r.output() == values{std::numeric_limits<double>::infinity()});
    CHECK(r.grad_input() == values(15));
}

TEST_CASE("ctc of labels that are the blank or come after the last one is NaN") {
    auto r = layer_run::of<of_labels, true, 4>();
    r.set_input(values(4 * 30, 1), 0);
    r.set_input({1, 0, 2, 1, no_label, 2, no_label, 3, 3, 1, 2, no_label}, 1);
    r.run();
    values const loss = r.output();
    CHECK(std::isnan(loss[0]));
    CHECK(std::isnan(loss[1]));
    CHECK(std::isnan(loss[2]));
    CHECK(std::isfinite(loss[3]));
}

TEST_CASE("ctc of a length that is no number of steps is NaN") {
    values const lengths{0, 3, 6, -1, 2.5, 7, 1e9, -1e30, std::nan(""), HUGE_VAL};
    auto r = layer_run::of<of_some_steps, true, 10>();
    r.set_input(values(10 * 30, 1), 0);
    values labels;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        labels.insert(labels.end(), {1, 2, no_label});
    }
    r.set_input(labels, 1);
    r.set_input(lengths, 2);
    r.run();
    values const loss = r.output();
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        CAPTURE(lengths[i]);
        CHECK(std::isnan(loss[i]) == (i >= 3));
    }
}

TEST_CASE("a sample without a label that counts has no loss and no gradient") {
    auto r = layer_run::of<of_one_step, true, 2>();
    r.set_input({1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1}, 0);
    r.set_input({no_label, 0}, 1);
    r.set_grad_output({1, 1});
    r.run();
    CHECK(r.output()[0] == 0);
    CHECK(r.output()[1] ==
          doctest::Approx(std::log(1 + std::exp(-1.0) + std::exp(-2.0) + std::exp(-3.0) +
                                   std::exp(-4.0) + std::exp(-5.0) + std::exp(-6.0))));
    values const gradient = r.grad_input();
    CHECK(values(gradient.begin(), gradient.begin() + 7) == values(7));
    CHECK(gradient[7] < 0);
}

TEST_CASE("accuracy of steps counts those that have a label") {
    CHECK(of<hits>(three_steps, {1, 0, 2}) == values{3, 3});
    CHECK(of<hits>(three_steps, {1, 1, no_label}) == values{1, 2});
    CHECK(of<hits>(three_steps, {no_label, no_label, no_label}) == values{0, 0});
    values const sums{1, 2, 3};
    CHECK(cn::accuracy.result(std::span{sums}.first(2), 5) == 0.5);
    CHECK(cn::accuracy.result(std::span{sums}.first(1), 5) == 0.2);
    CHECK(cn::accuracy.result(values{0, 0}, 5) == 0);
}

TEST_CASE("top_k of steps and pixels counts those that have a label") {
    values const ranked{3, 2, 1, 0, 0, 3, 3, 1, 0, 1, 2, 3};
    CHECK(of<hits_of_two>(ranked, {1, 0, 3}) == values{2, 3});
    CHECK(of<hits_of_two>(ranked, {2, 1, no_label}) == values{1, 2}); // a tie of two is within two
    CHECK(of<hits_of_two>(ranked, {no_label, no_label, no_label}) == values{0, 0});
    values const by_channel{3, 0, 0, 2, 3, 1, 1, 3, 2, 0, 1, 3};
    CHECK(of<pixels_of_two>(by_channel, {1, 0, 3}) == values{2, 3});
    CHECK(cn::top_k<2>.result(values{1, 4}, 5) == 0.25);
}

TEST_CASE("perplexity is exp of the mean cross-entropy of all steps") {
    values const sums = of<costs>(three_steps, {1, 1, no_label});
    CHECK(sums[1] == 2);
    CHECK(cn::perplexity.result(sums, 1) ==
          doctest::Approx(std::exp(of<with_all>(three_steps, {1, 1, no_label})[0])));
    values const twice{std::log(3.0) * 2};
    CHECK(cn::perplexity.result(twice, 2) == doctest::Approx(3));
}

TEST_CASE("ignore_index leaves out a class") {
    CHECK(of<without_2>(three_steps, {1, 0, 2}) == of<with_all>(three_steps, {1, 0, no_label}));
    CHECK(of<without_2>(three_steps, {1, no_label, 3}) ==
          of<with_all>(three_steps, {1, no_label, 3}));
    CHECK(of<hits_without_2>(three_steps, {1, 1, 2}) == values{1, 2});
    static_assert(cn::Metric<cn::ignoring<2, cn::accuracy_metric>>);
}
