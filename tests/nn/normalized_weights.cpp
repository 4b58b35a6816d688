// spectral_norm and weight_norm against PyTorch over several steps, and weights as numbers.
#include <castnet/nn/conv1d.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/conv3d.hpp>
#include <castnet/nn/conv_transpose1d.hpp>
#include <castnet/nn/conv_transpose2d.hpp>
#include <castnet/nn/conv_transpose3d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/depthwise_conv2d.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/repeat.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/scan.hpp>
#include <castnet/nn/spectral_norm.hpp>
#include <castnet/nn/weight_norm.hpp>
#include <castnet/train/model.hpp>

#include "harness.hpp"

#include <numeric>

namespace cn = castnet;
using check::layer_run, check::values, cn::shape, cn::spectral_norm, cn::weight_norm;

namespace {

// Three steps of gradient descent, then an evaluation.
template <class Network>
void like_torch(std::string const& name, std::string const& layer = "0.") {
    static check::golden_file const golden{"normalized_weights"};
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
constexpr cn::conv_transpose upsampling{.stride = 2, .padding = 1},
    two_groups_upsampling{.stride = 2, .groups = 2};

// The layer, normalised by Norm, of an input of these extents.
template <auto Norm, std::size_t... Extents>
using only = cn::sequential<cn::input<Extents...>, Norm>;
// The names of the golden cases with the networks that `of` makes of them.
template <class Norm>
void layers_like_torch(Norm) {
    auto const name = [](std::string const& layer) { return Norm::name + ("/" + layer); };
    using flattened =
        cn::sequential<cn::input<3, 2, 4>, cn::flatten, Norm::template of<cn::dense<5>>>;
    like_torch<only<Norm::template of<cn::dense<5>>, 7>>(name("dense"));
    like_torch<flattened>(name("flattened"), "1.");
    like_torch<only<Norm::template of<cn::conv1d<4, 3, two_groups>>, 9, 6>>(name("conv1d"));
    like_torch<only<Norm::template of<cn::conv2d<8, cn::size2{3, 2}>.no_bias()>, 3, 6, 5>>(
        name("conv2d"));
    like_torch<
        only<Norm::template of<cn::conv2d<6, 3, cn::conv{.padding = 1, .groups = 2}>>, 4, 6, 5>>(
        name("conv2d_groups"));
    like_torch<only<Norm::template of<cn::depthwise_conv2d<3, cn::conv{}, 2>>, 3, 6, 5>>(
        name("depthwise"));
    like_torch<only<Norm::template of<cn::conv3d<3, cn::size3{3, 2, 4}>>, 2, 5, 4, 6>>(
        name("conv3d"));
    like_torch<only<Norm::template of<cn::conv3d<2, 2, cn::conv3{.groups = 2}>>, 4, 3, 4, 4>>(
        name("conv3d_groups"));
}
template <class Norm>
void transposed_like_torch(Norm) {
    auto const name = [](std::string const& layer) { return Norm::name + ("/" + layer); };
    constexpr cn::conv_transpose two_groups_of_time{.stride = 2, .padding = 1, .groups = 2};
    like_torch<only<Norm::template of<cn::conv_transpose1d<4, 4, two_groups_of_time>>, 5, 6>>(
        name("conv_transpose1d"));
    like_torch<
        only<Norm::template of<cn::conv_transpose2d<5, cn::size2{3, 2}, upsampling>.no_bias()>, 3,
             4, 5>>(name("conv_transpose2d"));
    like_torch<only<Norm::template of<cn::conv_transpose2d<6, 3, two_groups_upsampling>>, 4, 3, 4>>(
        name("conv_transpose2d_groups"));
    like_torch<only<Norm::template of<cn::conv_transpose3d<3, cn::size3{3, 2, 2},
                                                           cn::conv_transpose3{.stride = 2}>>,
                    2, 2, 3, 3>>(name("conv_transpose3d"));
}

struct by_largest_singular_value {
    static constexpr char const* name = "spectral_norm";
    template <auto Layer>
    static constexpr auto of = spectral_norm<Layer>;
};
struct by_lengths_of_rows {
    static constexpr char const* name = "weight_norm";
    template <auto Layer>
    static constexpr auto of = weight_norm<Layer>;
};

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
using in_blocks =
    cn::sequential<cn::input<4>, cn::repeat<3, cn::block<spectral_norm<cn::dense<4>>, cn::tanh>>>;
using rows_in_blocks =
    cn::sequential<cn::input<4>, cn::repeat<3, cn::block<weight_norm<cn::dense<4>>, cn::tanh>>>;

} // namespace

TEST_CASE("spectral_norm of layers") {
    layers_like_torch(by_largest_singular_value{});
    transposed_like_torch(by_largest_singular_value{});
}

TEST_CASE("weight_norm of layers") {
    layers_like_torch(by_lengths_of_rows{});
    transposed_like_torch(by_lengths_of_rows{});
}

TEST_CASE("a layer with weight_norm starts as the same layer without") {
    using plain = cn::sequential<cn::input<5, 3>, cn::conv1d<4, 3>, cn::conv_transpose1d<4, 2>,
                                 cn::flatten, cn::repeat<3, cn::block<cn::dense<16>, cn::relu>>>;
    using with_norm =
        cn::sequential<cn::input<5, 3>, weight_norm<cn::conv1d<4, 3>>,
                       weight_norm<cn::conv_transpose1d<4, 2>>, cn::flatten,
                       cn::repeat<3, cn::block<weight_norm<cn::dense<16>>, cn::relu>>>;
    cn::model<with_norm, cn::policy::cpu, cn::batch<1>> normalized{cn::seed{5}};
    cn::model<plain, cn::policy::cpu, cn::batch<1>> same{cn::seed{6}};
    for (char const* name :
         {"0.weight", "0.bias", "1.weight", "3.0.weight", "4.0.weight", "5.0.weight"}) {
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

TEST_CASE("singular vectors start after power iterations, as PyTorch's") {
    using network =
        cn::sequential<cn::input<4, 3, 3>, spectral_norm<cn::conv2d<6, 2>>,
                       spectral_norm<cn::conv_transpose2d<4, 2, two_groups_upsampling>>,
                       cn::flatten, cn::repeat<2, cn::block<spectral_norm<cn::dense<64>>>>>;
    cn::model<network, cn::policy::basic_cpu<double>, cn::batch<1>> const model{cn::seed{7}};
    // Of a weight whose element (i, j) of its matrix is place(i, j).
    auto const check_vectors = [&](std::string const& layer, auto const& place) {
        CAPTURE(layer);
        values const w = model.get(layer + ".weight"), u = model.get(layer + ".u"),
                     v = model.get(layer + ".v");
        auto const image = [&](values const& of, bool transposed) {
            values y(transposed ? v.size() : u.size());
            for (std::size_t i = 0; i < u.size(); ++i) {
                for (std::size_t j = 0; j < v.size(); ++j) {
                    y[transposed ? j : i] += w[place(i, j)] * of[transposed ? i : j];
                }
            }
            double const norm = std::sqrt(std::inner_product(y.begin(), y.end(), y.begin(), 0.0));
            for (double& element : y) {
                element /= norm;
            }
            return std::pair{y, norm};
        };
        CHECK(std::inner_product(u.begin(), u.end(), u.begin(), 0.0) == doctest::Approx(1));
        auto [of_u, found] = image(u, true);
        check::close("v", v, of_u, 1e-12);
        values exact = v;
        double largest = 0;
        for (int i = 0; i < 2000; ++i) {
            exact = image(image(exact, false).first, true).first;
        }
        largest = image(exact, false).second;
        CHECK(found <= largest * (1 + 1e-12));
        CHECK(found > 0.9 * largest);
    };
    auto const in_rows = [](std::size_t columns) {
        return [=](std::size_t i, std::size_t j) { return i * columns + j; };
    };
    check_vectors("0", in_rows(16));
    check_vectors("1", [](std::size_t i, std::size_t j) { return (j / 4 * 2 + i) * 4 + j % 4; });
    check_vectors("3.0", in_rows(64));
    check_vectors("4.0", in_rows(64));
}

TEST_CASE("weights as numbers have a gradient") {
    check::against_finite_differences(check::run_of<dense_sum, shape<2>>(), 1e-6);
    check::against_finite_differences(check::run_of<conv2d_sum, shape<2>>(), 1e-6);
    check::against_finite_differences(check::run_of<conv3d_sum, shape<2>>(), 1e-6);
}

TEST_CASE("Normalised weights in the cell of a scan and in repeated blocks") {
    check::against_finite_differences(check::run_of<in_a_cell, shape<4, 3>, false>(), 1e-6);
    check::against_finite_differences(layer_run::of<in_blocks, false, 4>(), 1e-6);
    check::against_finite_differences(layer_run::of<rows_in_blocks, false, 4>(), 1e-6);
}
