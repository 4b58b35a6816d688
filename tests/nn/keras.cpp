// Losses, recurrent layers and batch normalisation against Keras, where its definitions are its
// own; what PyTorch computes alike is tested against PyTorch.
#include <castnet/nn/batch_norm.hpp>
#include <castnet/nn/dice.hpp>
#include <castnet/nn/likelihood_losses.hpp>
#include <castnet/nn/losses.hpp>
#include <castnet/nn/margin_losses.hpp>
#include <castnet/nn/recurrent.hpp>
#include <castnet/nn/similarity_losses.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::run_of, check::values, cn::input, cn::shape;

namespace {

// Keras computes some of it in float, and adds 1e-7 where a quotient might not be finite.
constexpr double rounding = 2e-6;

check::golden_file const& golden() {
    static check::golden_file const file{"keras"};
    return file;
}

template <class Loss>
struct of_loss {
    constexpr auto operator()(auto prediction, auto target) const {
        return Loss{}(prediction, target);
    }
};

void of_samples(check::layer_run r, std::string const& name, values const& target) {
    CAPTURE(name);
    r.set_input(golden()["losses/" + name + "/prediction"], 0);
    r.set_input(target, 1);
    r.set_grad_output(values(4, 1));
    r.run();
    check::close("per sample", r.output(), golden()["losses/" + name + "/per_sample"], rounding);
}
template <class Loss>
void is_that_of_keras(std::string const& name) {
    using network = cn::network<of_loss<Loss>{}, input<6>, input<6>>;
    of_samples(check::layer_run::of<network, true, 4>(), name,
               golden()["losses/" + name + "/target"]);
}

template <auto Layer>
void computes_what_keras_does(std::string const& name) {
    std::string const from = "layers/" + name + "/";
    CAPTURE(name);
    auto r = run_of<Layer, shape<5, 4>, true, 2>();
    for (auto const& p : r.parameters()) {
        std::string const text = p.name.text(); // "0.weight_ih_l0"
        r.set(text, golden()[from + text.substr(2, text.size() - 5)]);
    }
    r.set_input(golden()[from + "input"]);
    r.set_grad_output(values(30, 1));
    r.run();
    check::close("output", r.output(), golden()[from + "output"], rounding);
}

} // namespace

TEST_CASE("losses are those of Keras") {
    is_that_of_keras<cn::smoothed_categorical_cross_entropy_loss>(
        "smoothed_categorical_cross_entropy");
    is_that_of_keras<cn::binary_focal_cross_entropy_loss>("binary_focal_cross_entropy");
    is_that_of_keras<cn::log_cosh_loss>("log_cosh");
    is_that_of_keras<cn::hinge_loss>("hinge");
    is_that_of_keras<cn::squared_hinge_loss>("squared_hinge");
    is_that_of_keras<cn::categorical_hinge_loss>("categorical_hinge");
    is_that_of_keras<cn::kl_divergence_loss>("kl_divergence");
    is_that_of_keras<cn::poisson_nll_loss>("poisson_nll");
    is_that_of_keras<cn::cosine_similarity_loss>("cosine_similarity");
    is_that_of_keras<cn::dice_loss>("dice");
}

TEST_CASE("focal cross entropy of class numbers is Keras's of one-hot targets") {
    values const one_hot = golden()["losses/focal_cross_entropy/target"];
    values labels;
    for (std::size_t i = 0; i < one_hot.size(); ++i) {
        if (one_hot[i] == 1) {
            labels.push_back(double(i % 6));
        }
    }
    using network = cn::network<of_loss<cn::focal_cross_entropy_loss>{}, input<6>, input<>>;
    of_samples(check::layer_run::of<network, true, 4>(), "focal_cross_entropy", labels);
}

TEST_CASE("recurrent layers compute what those of Keras do, by the same weights") {
    computes_what_keras_does<cn::lstm<3>.return_sequences()>("lstm");
    computes_what_keras_does<cn::gru<3>.return_sequences()>("gru");
    computes_what_keras_does<cn::rnn<3>.return_sequences()>("rnn");
}

TEST_CASE("batch normalisation with Keras's constants") {
    constexpr auto layer = cn::batch_norm.with_epsilon(1e-3).with_momentum(0.01);
    auto r = run_of<layer, shape<3, 2, 5>, true, 4>();
    auto const expected = [](std::string const& what) {
        return golden()["layers/batch_norm/" + what];
    };
    r.set("0.weight", values(3, 1));
    r.set("0.running_mean", values(3, 0));
    r.set("0.running_var", values(3, 1));
    r.set_input(expected("input"));
    r.set_grad_output(values(120, 1));
    r.run();
    check::close("output", r.output(), expected("output"), rounding);
    check::close("running_mean", r.parameter("0.running_mean"), expected("running_mean"), rounding);
    values unbiased = expected("running_var"); // Keras's is not
    for (double& v : unbiased) {
        v = 0.99 + (v - 0.99) * 40 / 39;
    }
    check::close("running_var", r.parameter("0.running_var"), unbiased, rounding);
}
