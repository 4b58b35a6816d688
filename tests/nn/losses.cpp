// Losses against PyTorch: the loss of every sample, and the gradient of their weighted mean.
#include <castnet/nn/losses.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::values, cn::shape;

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
