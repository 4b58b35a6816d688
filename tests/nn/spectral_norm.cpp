// spectral_norm and weight_norm against PyTorch over several steps, and weights as numbers.
#include <castnet/nn/conv1d.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/conv3d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/repeat.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/scan.hpp>
#include <castnet/nn/spectral_norm.hpp>
#include <castnet/nn/weight_norm.hpp>
#include <castnet/train/model.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::layer_run, check::values, cn::shape, cn::spectral_norm, cn::weight_norm;

namespace {

// Three steps of gradient descent, then an evaluation.
template <class Network>
void like_torch(std::string const& name, std::string const& layer = "0.") {
    static check::golden_file const golden{"spectral"};
    auto const expected = [&](std::string const& what) { return golden[name + "/" + what]; };
    CAPTURE(name);
    layer_run r = layer_run::of<Network, true, 4>(),
              evaluation = layer_run::of<Network, false, 4>();
    for (auto const& p : r.parameters()) {
        r.set(p.name.text(), expected(p.name.text().substr(layer.size()) + "_before"));
    }
    r.set_input(expected("input"));
    r.set_grad_output(expected("grad_output"));
    for (std::string const step : {"0", "1", "2"}) {
        CAPTURE(step);
        r.run();
        check::close("output", r.output(), expected("output_" + step), 1e-12);
        check::close("grad_input", r.grad_input(), expected("grad_input_" + step), 1e-12);
        for (auto const& p : r.parameters()) {
            if (p.trainable) {
                values w = r.parameter(p.name.text());
                values const g = r.gradient(p.name.text());
                std::transform(w.begin(), w.end(), g.begin(), w.begin(),
                               [](double x, double y) { return x - 0.05 * y; });
                r.set(p.name.text(), w);
            }
        }
    }
    for (auto const& p : r.parameters()) {
        std::string const own = p.name.text().substr(layer.size());
        if (own != "bias") {
            check::close(own, r.parameter(p.name.text()), expected(own + "_after"), 1e-12);
        }
    }
    for (auto const& p : r.parameters()) {
        evaluation.set(p.name.text(), r.parameter(p.name.text()));
    }
    evaluation.set_input(expected("input"));
    evaluation.run();
    check::close("evaluation", evaluation.output(), expected("output_evaluation"), 1e-12);
    for (auto const& p : r.parameters()) {
        CHECK(evaluation.parameter(p.name.text()) == r.parameter(p.name.text()));
    }
}

constexpr cn::conv two_groups{.groups = 2};

using of_features = cn::sequential<cn::input<7>, spectral_norm<cn::dense<5>>>;
using of_flattened_image =
    cn::sequential<cn::input<3, 2, 4>, cn::flatten, spectral_norm<cn::dense<5>>>;
using of_sequence = cn::sequential<cn::input<9, 6>, spectral_norm<cn::conv1d<4, 3, two_groups>>>;
using of_image =
    cn::sequential<cn::input<3, 6, 5>, spectral_norm<cn::conv2d<8, cn::size2{3, 2}>.no_bias()>>;
using of_volume =
    cn::sequential<cn::input<2, 5, 4, 6>, spectral_norm<cn::conv3d<3, cn::size3{3, 2, 4}>>>;

using rows_of_features = cn::sequential<cn::input<7>, weight_norm<cn::dense<5>>>;
using rows_of_flattened_image =
    cn::sequential<cn::input<3, 2, 4>, cn::flatten, weight_norm<cn::dense<5>>>;
using rows_of_sequence = cn::sequential<cn::input<9, 6>, weight_norm<cn::conv1d<4, 3, two_groups>>>;
using rows_of_image =
    cn::sequential<cn::input<3, 6, 5>, weight_norm<cn::conv2d<8, cn::size2{3, 2}>.no_bias()>>;
using rows_of_volume =
    cn::sequential<cn::input<2, 5, 4, 6>, weight_norm<cn::conv3d<3, cn::size3{3, 2, 4}>>>;

// A penalty on the weight, of which the output is a function.
template <cn::Shape S, cn::role Role>
struct weight_sum_layer {
    template <std::size_t N>
    constexpr auto operator()(cn::symbol<shape<N>> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"weight_sum"}};
        auto const weight = cn::new_parameter<S>(*x.g, "weight", {.kind = Role});
        constexpr auto columns = std::size_t(S::count) / S::extent[0];
        auto const rows = cn::reshaped(cn::weight_values(weight), shape<S::extent[0], columns>{});
        auto const of_place =
            cn::channel_index<shape<columns>>(*x.g) +
            cn::reshaped(cn::sum_channels(cn::square(rows)), shape<S::extent[0], 1>{});
        return x * cn::sum(rows * of_place);
    }
};

constexpr weight_sum_layer<shape<5, 7>, cn::role::dense_weight> dense_sum{};
constexpr weight_sum_layer<shape<5, 2, 3, 4>, cn::role::conv_weight> conv2d_sum{};
constexpr weight_sum_layer<shape<2, 3, 2, 2, 3>, cn::role::conv_weight> conv3d_sum{};

struct in_a_cell_layer {
    constexpr auto operator()(auto x) const {
        auto const cell = [](auto x_t, auto h) {
            return cn::tanh(x_t + (h | spectral_norm<cn::dense<3>>));
        };
        return cn::scan(x, shape<3>{}, cell).outputs;
    }
};
constexpr in_a_cell_layer in_a_cell{};
constexpr auto in_blocks = cn::repeat<3, cn::block<spectral_norm<cn::dense<4>>, cn::tanh>>;
constexpr auto rows_in_blocks = cn::repeat<3, cn::block<weight_norm<cn::dense<4>>, cn::tanh>>;

} // namespace

TEST_CASE("spectral_norm of layers") {
    like_torch<of_features>("dense");
    like_torch<of_flattened_image>("flattened", "1.");
    like_torch<of_sequence>("conv1d");
    like_torch<of_image>("conv2d");
    like_torch<of_volume>("conv3d");
}

TEST_CASE("weight_norm of layers") {
    like_torch<rows_of_features>("weight_norm/dense");
    like_torch<rows_of_flattened_image>("weight_norm/flattened", "1.");
    like_torch<rows_of_sequence>("weight_norm/conv1d");
    like_torch<rows_of_image>("weight_norm/conv2d");
    like_torch<rows_of_volume>("weight_norm/conv3d");
}

TEST_CASE("a layer with weight_norm starts as the same layer without") {
    using plain = cn::sequential<cn::input<5, 3>, cn::conv1d<4, 2>, cn::relu, cn::flatten,
                                 cn::repeat<3, cn::block<cn::dense<16>, cn::relu>>>;
    using with_norm =
        cn::sequential<cn::input<5, 3>, weight_norm<cn::conv1d<4, 2>>, cn::relu, cn::flatten,
                       cn::repeat<3, cn::block<weight_norm<cn::dense<16>>, cn::relu>>>;
    cn::model<with_norm, cn::policy::cpu, cn::batch<1>> normalized{cn::seed{5}};
    cn::model<plain, cn::policy::cpu, cn::batch<1>> same{cn::seed{6}};
    for (char const* name : {"0.weight", "0.bias", "3.0.weight", "4.0.weight", "5.0.weight"}) {
        same.set(name, normalized.get(name));
    }
    std::vector<float> const x{1, -2, 3, 0.5, 2, -1, 1, 1, -3, 2, 0, 1, -1, 2, 4};
    auto const found = normalized.predict(std::span<float const>{x}),
               expected = same.predict(std::span<float const>{x});
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
    }
}

TEST_CASE("weights as numbers have a gradient") {
    check::against_finite_differences(check::run_of<dense_sum, shape<2>>(), 1e-6);
    check::against_finite_differences(check::run_of<conv2d_sum, shape<2>>(), 1e-6);
    check::against_finite_differences(check::run_of<conv3d_sum, shape<2>>(), 1e-6);
}

TEST_CASE("Normalised weights in the cell of a scan and in repeated blocks") {
    check::against_finite_differences(check::run_of<in_a_cell, shape<4, 3>, false>(), 1e-6);
    check::against_finite_differences(check::run_of<in_blocks, shape<4>, false>(), 1e-6);
    check::against_finite_differences(check::run_of<rows_in_blocks, shape<4>, false>(), 1e-6);
}
