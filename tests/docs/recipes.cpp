// Programs of docs/guide.md, between "// [name]" and "// [/name]"; check_snippets.sh compares.
#include <castnet/castnet.hpp>

#include <cmath>
#include <doctest/doctest.h>

namespace cn = castnet;

namespace {

// [matmul]
template <std::size_t Units>
struct projection_layer {
    static constexpr char const* name = "projection";

    template <std::size_t N>
    constexpr auto operator()(cn::symbol<cn::shape<N>> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"projection"}};
        auto const weight = cn::new_parameter<cn::shape<Units, N>>(
            *x.g, "weight", {.kind = cn::role::dense_weight, .start = cn::he_normal});
        return cn::matmul(x, weight);
    }
};
template <std::size_t Units>
inline constexpr projection_layer<Units> projection{};
// [/matmul]

// [heads]
struct normalize_heads_layer { // of eight features each, as attention normalizes its queries
    template <std::size_t Time, std::size_t Features>
    constexpr auto operator()(cn::symbol<cn::shape<Time, Features>> x) const {
        using heads = cn::row_major_shape<Time, Features / 8, 8>; // cn::shape<…> is an image
        auto const h = x | cn::reshape_to<heads>;
        auto const mean_square = cn::sum_channels(cn::square(h)) / 8;
        return h * cn::rsqrt(mean_square + 1e-6) | cn::reshape<Time, Features>;
    }
};
inline constexpr normalize_heads_layer normalize_heads{};
// [/heads]

// [inner]
using classifier = cn::sequential<cn::input<2>, projection<16>, cn::tanh, cn::dense<3>>;
using first_layers = cn::sequential<cn::input<2>, projection<16>, cn::tanh>;
// [/inner]

using normalized = cn::sequential<cn::input<2, 16>, normalize_heads>;

} // namespace

TEST_CASE("a tensor of three axes of the guide") {
    std::vector<float> x(32, 3.0F);
    x[31] = 4;
    cn::model<normalized, cn::policy::cpu, cn::batch<1>> model{cn::seed{1}};
    std::vector<float> const y = model.predict(x);
    CHECK(y[23] == doctest::Approx(1)); // of heads of equal numbers
    CHECK(y[24] == doctest::Approx(3 / std::sqrt((7 * 9 + 16) / 8.0)));
}

TEST_CASE("recipes of the guide") {
    auto const data = cn::data::blobs<3, 2>(120, 1);

    // [folds]
    std::vector<std::size_t> order(data.size());
    cn::data::shuffle(order, 7, 0);
    std::size_t const folds = 4;
    double mean = 0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> train, test;
        for (std::size_t i = 0; i < order.size(); ++i) {
            (i % folds == fold ? test : train).push_back(order[i]);
        }
        cn::model<classifier, cn::policy::cpu, cn::batch<16>> model{cn::seed{fold}};
        auto training =
            cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 1e-2}, cn::accuracy);
        training.fit(data.subset(train), {.epochs = 20, .verbose = cn::verbosity::silent});
        mean += training.evaluate(data.subset(test))["accuracy"] / folds;
    }
    // [/folds]
    CHECK(mean > 0.8);

    cn::model<classifier, cn::policy::cpu, cn::batch<16>> model{cn::seed{1}};
    // [confusion]
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 1e-2},
                                cn::confusion_matrix<3>);
    training.fit(data, {.epochs = 20, .verbose = cn::verbosity::silent});
    auto const confusion = training.evaluate(data).counts<"confusion_matrix">();
    double const taken_for_2 = confusion(1, 2); // samples of class 1
    double const recall = confusion.recall(1);  // and precision, f1; accuracy() of all classes
    // [/confusion]
    CHECK(confusion.accuracy() > 0.8);
    CHECK(taken_for_2 <= 40);
    CHECK(recall > 0.7);

    // [output_of]
    std::vector<float> const features =
        cn::output_of<"1">(model, data); // 16 for each sample, of tanh
    // [/output_of]

    // [activations]
    cn::model<first_layers, cn::policy::cpu, cn::batch<16>> inner;
    for (std::size_t i = 0; i < inner.parameter_tensors(); ++i) {
        auto const name = inner.parameter_at(i).name.text(); // "0.weight", as in the whole network
        inner.set(name, model.get(name));
    }
    std::vector<float> const activations = inner.predict(data); // 16 for each sample
    // [/activations]
    CHECK(activations == features);
    auto const weights = model.get("2.weight");
    double logit = model.get("2.bias")[0];
    for (std::size_t i = 0; i < 16; ++i) {
        logit += double(activations[i]) * double(weights[i]);
    }
    CHECK(logit == doctest::Approx(double(model.predict(data)[0])).epsilon(1e-4));
}
