// Networks whose products read bfloat16, on castnet's CUDA kernels on the host, against the CPU in
// double.
#include "../bf16.hpp"

#include <castnet/castnet.hpp>

#include "simulated_device.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;
using check::everything, check::in_double, check::samples;
using cn::bfloat16, cn::op, cn::ir::region;

namespace {

using cn::input;

struct u_shaped { // an image leaves it, and arrays are joined on the way
    constexpr auto operator()(auto x) const {
        auto const skip = x | cn::conv2d<4, 3, cn::conv{.padding = 1}> | cn::relu;
        auto const low = skip | cn::max_pool2d<2> | cn::conv2d<6, 3, cn::conv{.padding = 1}>;
        return cn::concat(low | cn::upsample2d<2>, skip) | cn::conv2d<3, 1> | cn::flatten;
    }
};
using branches = cn::network<u_shaped{}, input<2, 8, 8>>;
using convnet = cn::sequential<input<3, 9, 9>, cn::conv2d<8, 3, cn::conv{.padding = 1}>, cn::relu,
                               cn::max_pool2d<2>, cn::conv2d<6, 3>, cn::relu, cn::flatten,
                               cn::dense<16>, cn::relu, cn::dense<5>>;
using of_one_channel =
    cn::sequential<input<1, 11, 10>, cn::conv2d<16, 3, cn::conv{.padding = 1}>, cn::tanh,
                   cn::avg_pool2d<2>, cn::conv2d<8, 3>, cn::tanh, cn::flatten, cn::dense<5>>;
using normalized = cn::sequential<
    input<3, 8, 8>, cn::conv2d<6, 3, cn::conv{.padding = 1}>.no_bias(), cn::batch_norm, cn::relu,
    cn::repeat<2, cn::block<cn::residual<cn::conv2d<6, 3, cn::conv{.padding = 1}>.no_bias(),
                                         cn::batch_norm>,
                            cn::relu>>,
    cn::global_avg_pool2d, cn::dense<4>>;
using dense = cn::sequential<input<7>, cn::dense<12>, cn::gelu_tanh, cn::dropout<0.25F>,
                             cn::dense<9>, cn::tanh, cn::dense<3>>;
struct tied { // its output has the weights of its input
    constexpr auto operator()(auto x) const {
        return x | cn::shared<"tokens", cn::embedding<9, 5>> | cn::dense<5> | cn::tanh |
               cn::shared<"tokens", cn::tied_output<9>> | cn::flatten | cn::dense<3>;
    }
};
using language = cn::network<tied{}, cn::input_ids<9, 6>>;

struct of_parameters { // as factors of products: as they are, seen with other axes, computed
    constexpr auto operator()(auto x) const {
        auto& g = *x.g;
        cn::parameter_options const start{.start = cn::random_normal(0.5F)};
        auto const a = cn::new_parameter<cn::shape<8, 3>>(g, "a", start);
        auto const b = cn::new_parameter<cn::shape<24>>(g, "b", start);
        auto const c = cn::new_parameter<cn::shape<2, 12>>(g, "c", start);
        auto const seen = cn::reshaped(b, cn::shape<3, 8>{});
        auto const square = cn::matmul(a, seen); // (8, 8)
        auto const rows = cn::reshaped(c, cn::row_major_shape<2, 3, 4>{});
        auto const products = cn::matmul_transposed(rows, cn::reverse<0>(rows)); // (2, 3, 3)
        auto const layers = (cn::concatenate<0>(cn::transpose(a), seen) | cn::dense<8>);
        auto const y = cn::matmul(cn::matmul(x, square), cn::transpose(layers)); // (6)
        auto const z = cn::matmul(y, cn::concatenate<0>(seen, cn::slice<0, 2, 5>(square)));
        auto const w = cn::matmul(cn::matmul(cn::tanh(z), a), seen) + cn::times_rows(x, seen)[1];
        return cn::tanh(w + cn::sum(products)) | cn::dense<3>;
    }
};
using computed = cn::network<of_parameters{}, input<8>>;

template <class Network, std::size_t Classes, class Shape>
void check_step(char const* name, cn::seed seed, double tolerance) {
    CAPTURE(name);
    check::check_bf16_step<Network, Classes, Shape, simt::bf16>(seed, tolerance);
}

} // namespace

TEST_CASE("bfloat16 rounds to the nearest, ties to even, and keeps what is no number") {
    auto const there_and_back = [](float x) { return float(bfloat16(x)); };
    for (float const exact : {0.0F, -1.0F, 0.5F, 255.0F, -256.0F, 0x1p-130F, 0x1.fep127F}) {
        CHECK(there_and_back(exact) == exact);
    }
    CHECK(there_and_back(257) == 256);
    CHECK(there_and_back(259) == 260);
    CHECK(there_and_back(-257.001F) == -258);
    CHECK(there_and_back(0x1.ffp127F) == INFINITY);
    CHECK(there_and_back(-INFINITY) == -INFINITY);
    CHECK(std::isnan(there_and_back(NAN)));
    CHECK(std::isnan(there_and_back(__builtin_bit_cast(float, 0x7f800001U))));
}

TEST_CASE("a step's loss and gradients are those in double, but for roundings") {
    check_step<convnet, 5, cn::shape<3, 9, 9>>("convnet", cn::seed{1}, 0.015);
    check_step<of_one_channel, 5, cn::shape<1, 11, 10>>("of one channel", cn::seed{1}, 0.015);
    check_step<normalized, 4, cn::shape<3, 8, 8>>("normalized", cn::seed{3}, 0.03);
    check_step<dense, 3, cn::shape<7>>("dense", cn::seed{1}, 0.01);
    check_step<language, 3, cn::ids<9, 6>>("language", cn::seed{1}, 0.02);
    check_step<check::attending, 3, cn::shape<70, 4>>("attending", cn::seed{2}, 0.03);
    check_step<check::attending_by_eights, 3, cn::shape<70, 4>>("by eights", cn::seed{2}, 0.03);
    check_step<check::recurrent, 3, cn::shape<5, 6>>("recurrent", cn::seed{1}, 0.02);
    check_step<computed, 3, cn::shape<8>>("computed", cn::seed{1}, 0.03);
    check_step<check::volumes, 5, cn::shape<3, 6, 5, 7>>("volumes", cn::seed{1}, 0.02);
    check_step<check::of_normalized_weights, 5, cn::shape<3, 9, 9>>("normalized weights",
                                                                    cn::seed{1}, 0.02);
    check_step<branches, 192, cn::shape<2, 8, 8>>("branches", cn::seed{5}, 0.01);
}

// Of small integers nothing is lost.
TEST_CASE("what bfloat16 can hold is computed exactly") {
    std::vector<float> x(6 * 243);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * i % 3);
    }
    cn::data::dataset<cn::data::label<5>, cn::shape<3, 9, 9>> const data{std::move(x),
                                                                         std::vector<int>(6)};
    auto const predict = [&]<class Policy>(Policy) {
        cn::model<convnet, Policy, cn::batch<4>> model{cn::seed{1}};
        for (std::size_t p = 0; p < model.parameter_tensors(); ++p) {
            auto const name = model.parameter_at(p).name.text();
            auto values = model.get(name);
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = int((i * 5 + p) % 17 == 0) - int((i * 3 + p) % 19 == 0);
            }
            model.set(name, values);
        }
        return model.predict(data);
    };
    auto const exact = predict(in_double{}), in_bf16 = predict(simt::bf16{});
    CHECK(in_bf16 == exact);
    CHECK(*std::max_element(exact.begin(), exact.end()) >= 3);
}

TEST_CASE("training in bfloat16 learns as in double") {
    auto const data = samples<5, cn::shape<3, 9, 9>>(16);
    auto const losses = [&]<class Policy>(Policy) {
        cn::model<convnet, Policy, cn::batch<8>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.01});
        return training.fit(data, {.epochs = 12, .verbose = cn::verbosity::silent})["loss"];
    };
    auto const exact = losses(in_double{}), in_bf16 = losses(simt::bf16{});
    CHECK(in_bf16.front() == doctest::Approx(exact.front()).epsilon(0.02));
    CHECK(exact.back() < 0.5 * exact.front());
    CHECK(in_bf16.back() == doctest::Approx(exact.back()).epsilon(0.15));
}

TEST_CASE("weights keep what bfloat16 cannot hold") {
    cn::model<dense, simt::bf16, cn::batch<8>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{.learning_rate = 1e-5});
    auto const before = everything<double>(model);
    training.step(samples<3, cn::shape<7>>(8), {0, 1, 2});
    auto const after = everything<double>(model);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        changed += after[i] != before[i];
    }
    CHECK(changed > after.size() / 2);
}
