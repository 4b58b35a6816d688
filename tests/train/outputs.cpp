// Networks with several outputs: predicted one by one, trained by a loss that sees them all.
#include <castnet/castnet.hpp>

#include <doctest/doctest.h>

namespace cn = castnet;

namespace {

// A class and a reconstruction from one code.
struct two_heads {
    constexpr auto operator()(auto x) const {
        auto const code = x | cn::dense<8> | cn::tanh;
        return cn::outputs(code | cn::named<"class", cn::dense<3>>,
                           code | cn::named<"copy", cn::dense<4>>);
    }
};
using network = cn::network<two_heads{}, cn::input<4>>;

// Cross-entropy of the first output, whose target is a class number; the second is kept near 1.
struct both {
    [[maybe_unused]] static constexpr char const* name = "both";
    static constexpr bool labels = true;
    constexpr auto operator()(auto logits, auto copy, auto label) const {
        return cn::cross_entropy(logits, label) + 0.5 * cn::mean(cn::square(copy - 1.0));
    }
};

} // namespace

TEST_CASE("a network with two outputs trains both and predicts each") {
    auto const data = cn::data::blobs<3, 4>(90, 7);
    cn::model<network, cn::policy::cpu, cn::batch<16>> model{cn::seed{3}};
    auto training = cn::compile(model, both{}, cn::adam{.learning_rate = 0.02}, cn::accuracy);
    auto const history = training.fit(data, {.epochs = 40, .verbose = cn::verbosity::silent});
    CHECK(history["accuracy"].back() > 0.9);
    CHECK(history["loss"].back() < 0.5 * history["loss"].front());

    auto const classes = model.predict(data);
    auto const copies = model.predict<1>(data);
    REQUIRE(classes.size() == 90 * 3);
    REQUIRE(copies.size() == 90 * 4);
    double error = 0;
    for (float x : copies) {
        error += (x - 1) * (x - 1) / double(copies.size());
    }
    CHECK(error < 0.05);

    auto const table = cn::summary(model);
    for (char const* part :
         {"dense_1.weight", "(8, 4)", "class.bias", "copy.weight", "Total params: 103"}) {
        INFO(part);
        CHECK(table.find(part) != std::string::npos);
    }
}

TEST_CASE("predict_one agrees with predict, for images of several channels too") {
    using images =
        cn::sequential<cn::input<3, 4, 5>, cn::conv2d<6, 3, cn::conv{.padding = cn::same}>,
                       cn::relu, cn::conv2d<2, 1>>;
    std::vector<float> pixels(2 * 60), targets(2 * 40);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        pixels[i] = float(i % 17) / 17 - 0.4F;
    }
    cn::data::dataset<cn::shape<2, 4, 5>, cn::shape<3, 4, 5>> const data{pixels, targets};
    cn::model<images, cn::policy::cpu, cn::batch<4>> model{cn::seed{1}};
    auto const all = model.predict(data);
    for (std::size_t sample = 0; sample < 2; ++sample) {
        float one[40];
        model.predict_one(pixels.data() + sample * 60, one);
        for (std::size_t i = 0; i < 40; ++i) {
            CHECK(one[i] == doctest::Approx(all[sample * 40 + i]).epsilon(1e-6));
        }
    }
}
