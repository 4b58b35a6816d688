// Layers of sequences (time, features), against PyTorch and finite differences.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/border_padding.hpp>
#include <castnet/nn/conv_transpose1d.hpp>
#include <castnet/nn/embedding.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/pooling1d.hpp>

#include "harness.hpp"

#include <algorithm>

namespace cn = castnet;
using check::against_finite_differences, check::layer_of, check::layer_run, check::values;
using cn::conv, cn::conv1d, cn::conv_transpose, cn::conv_transpose1d, cn::pooling, cn::sequential,
    cn::shape;

namespace {

constexpr auto series = cn::input<9, 3>;

// (nvcc 13.0 does not take every layer as an argument of a function template.)
template <class Network>
void golden(std::string const& name) {
    check::against_golden(layer_run::of<Network, true, 4>(), name, 1e-12, "sequences");
}

static_assert(cn::sequential<cn::input<9, 3>, conv1d<5, 4>>::parameter_count == 5 * 3 * 4 + 5);

struct mean_of_first {
    constexpr auto operator()(auto x, auto length) const {
        return cn::global_avg_pool1d(cn::sin(x), length);
    }
};
struct max_of_first {
    constexpr auto operator()(auto x, auto length) const {
        return cn::global_max_pool1d(cn::sin(x), length);
    }
};
struct masked {
    constexpr auto operator()(auto x, auto length) const {
        return cn::mask_steps(cn::square(x), length);
    }
};
// With names of their own, for nvcc 13.0.
struct of_mean : cn::network<mean_of_first{}, cn::input<3, 2>, cn::input_length<3>> {};
struct of_max : cn::network<max_of_first{}, cn::input<3, 2>, cn::input_length<3>> {};
struct of_masked : cn::network<masked{}, cn::input<3, 2>, cn::input_length<3>> {};

values const x{1, -1, 2, 5, 3, 4, /**/ 1, -1, 2, 5, 3, 4, /**/ 1, -1, 2, 5, 3, 4};
values const lengths{3, 1, 0};

struct outcome {
    values output, gradient;
};
template <class Network>
outcome with_lengths() {
    auto r = layer_run::of<Network, true, 3>();
    r.set_input(x, 0);
    r.set_input(lengths, 1);
    r.set_grad_output(values(r.output().size(), 1));
    r.run();
    return {r.output(), r.grad_input()};
}

} // namespace

TEST_CASE("conv1d") {
    golden<sequential<series, conv1d<8, 3>>>("conv1d_3");
    golden<sequential<series, conv1d<5, 3, conv{.stride = 2, .padding = 1}>>>(
        "conv1d_stride2_pad1");
    golden<sequential<series, conv1d<5, 4, conv{.padding = cn::same}>>>("conv1d_same_kernel4");
    golden<sequential<series, conv1d<5, 3, conv{.dilation = 2}>>>("conv1d_dilation2");
    golden<sequential<series, conv1d<6, 3, conv{.groups = 3}>>>("conv1d_groups3");
    golden<sequential<series, conv1d<4, 1>>>("conv1d_1");
    golden<sequential<series, conv1d<5, 3, conv{.padding = cn::causal}>>>("conv1d_causal");
    golden<sequential<series, conv1d<5, 3, conv{.padding = cn::causal, .dilation = 3}>>>(
        "conv1d_causal_dilation3");
}

TEST_CASE("conv_transpose1d") {
    golden<sequential<series, conv_transpose1d<8, 3>>>("conv_transpose1d_3");
    golden<sequential<
        series,
        conv_transpose1d<5, 3, conv_transpose{.stride = 2, .padding = 1, .output_padding = 1}>>>(
        "conv_transpose1d_stride2_pad1_more1");
    golden<sequential<series, conv_transpose1d<5, 3, conv_transpose{.stride = 4, .dilation = 2}>>>(
        "conv_transpose1d_stride4_dilation2");
    golden<sequential<series, conv_transpose1d<6, 4, conv_transpose{.stride = 3, .groups = 3}>>>(
        "conv_transpose1d_groups3");
}

TEST_CASE("embeddings as PyTorch has them") {
    using ids = cn::input_ids_layer<7, 5>;
    golden<sequential<ids{}, cn::embedding<7, 3>>>("embedding");
    golden<sequential<ids{}, cn::embedding<7, 3>.padding_idx(2)>>("embedding_padding_idx2");
    golden<sequential<cn::input<5, 3>, cn::tied_output<7>>>("tied");
}

TEST_CASE("the gradients of conv1d") {
    against_finite_differences(layer_of<conv1d<4, 5, conv{.stride = 3, .padding = cn::causal}>,
                                        shape<11, 2>, true, 2>::make());
    against_finite_differences(
        layer_of<conv1d<33, 3, conv{.padding = cn::same}>, shape<4, 35>, true, 2>::make());
    against_finite_differences(layer_of<conv1d<2, 7>.no_bias(), shape<7, 1>, true, 3>::make());
}

TEST_CASE("the gradients of conv_transpose1d") {
    constexpr conv_transpose tripled{.stride = 3, .padding = cn::same}; // three steps for each
    using net = cn::sequential<cn::input<4, 2>, conv_transpose1d<4, 5, tripled>>;
    CHECK(layer_run::of<net, true, 2>().output().size() == 2 * 3 * 4 * 4);
    against_finite_differences(
        layer_of<conv_transpose1d<4, 5, tripled>, shape<4, 2>, true, 2>::make());
    against_finite_differences(layer_of<conv_transpose1d<35, 3>, shape<3, 33>, true, 2>::make());
    against_finite_differences(
        layer_of<conv_transpose1d<1, 7>.no_bias(), shape<1, 2>, true, 3>::make());
}

TEST_CASE("pooling, padding and up-sampling over time") {
    golden<sequential<series, cn::max_pool1d<2>>>("max_pool1d_2");
    golden<sequential<series, cn::max_pool1d<3, pooling{.stride = 2, .padding = 1}>>>(
        "max_pool1d_kernel3_stride2_pad1");
    golden<sequential<series, cn::avg_pool1d<2>>>("avg_pool1d_2");
    golden<sequential<series, cn::avg_pool1d<3, pooling{.stride = 2, .padding = 1}>>>(
        "avg_pool1d_kernel3_stride2_pad1");
    golden<sequential<series, cn::reflection_pad<0, 8, 3>>>("reflection_pad1d_8_3");
    golden<sequential<series, cn::replication_pad<0, 0, 2>>>("replication_pad1d_0_2");
    golden<sequential<series, cn::circular_pad<0, 9, 0>>>("circular_pad1d_9_0");
    golden<sequential<series, cn::upsample1d<4>>>("upsample1d_4");
    golden<sequential<series, cn::upsample1d<3>.linear()>>("upsample1d_linear_3");
    against_finite_differences(layer_of<cn::global_avg_pool1d, shape<5, 3>>::make());
    against_finite_differences(layer_of<cn::global_max_pool1d, shape<5, 3>>::make());
    against_finite_differences(
        layer_of<cn::max_pool1d<4, pooling{.stride = 1, .padding = cn::causal}>,
                 shape<5, 3>>::make());
}

TEST_CASE("steps from a sample's length on do not count") {
    auto const [mean, mean_gradient] = with_lengths<of_mean>();
    check::close("mean", mean,
                 {(std::sin(1) + std::sin(2) + std::sin(3)) / 3,
                  (std::sin(-1) + std::sin(5) + std::sin(4)) / 3, std::sin(1), std::sin(-1), 0, 0},
                 1e-14);
    values const one_step(mean_gradient.begin() + 6, mean_gradient.begin() + 12);
    check::close("gradient", one_step, {std::cos(1), std::cos(-1), 0, 0, 0, 0}, 1e-14);
    CHECK(values(mean_gradient.begin() + 12, mean_gradient.end()) == values(6));

    auto const [largest, largest_gradient] = with_lengths<of_max>();
    check::close("max", largest,
                 {std::sin(2), std::sin(4) < std::sin(-1) ? std::sin(-1) : std::sin(4), std::sin(1),
                  std::sin(-1), 0, 0},
                 1e-14);
    CHECK(values(largest_gradient.begin() + 12, largest_gradient.end()) == values(6));

    auto const [kept, kept_gradient] = with_lengths<of_masked>();
    CHECK(kept == values{1, 1, 4, 25, 9, 16, /**/ 1, 1, 0, 0, 0, 0, /**/ 0, 0, 0, 0, 0, 0});
    CHECK(kept_gradient ==
          values{2, -2, 4, 10, 6, 8, /**/ 2, -2, 0, 0, 0, 0, /**/ 0, 0, 0, 0, 0, 0});
}
