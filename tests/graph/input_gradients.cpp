// Gradients by inputs within networks, as gradient penalties and differential equations have them:
// their own gradients against finite differences.
#include <castnet/graph/grad.hpp>
#include <castnet/nn/activations.hpp>
#include <castnet/nn/adaptive_pooling.hpp>
#include <castnet/nn/conv1d.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/conv_transpose2d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/layer_norm.hpp>
#include <castnet/nn/pooling.hpp>
#include <castnet/nn/pooling1d.hpp>
#include <castnet/nn/reshape.hpp>

#include "../nn/harness.hpp"

namespace cn = castnet;
using check::against_finite_differences, check::run_of;
using cn::conv, cn::conv2d, cn::dense, cn::pooling, cn::shape;

namespace {

// The gradient by x of a number that depends on all that the layer makes of x.
template <auto Layer>
struct slope {
    constexpr auto operator()(auto x) const {
        return cn::grad([](auto t) { return cn::sum(cn::sin(Layer(t))); }, x);
    }
};

// That of its norm, and so on.
template <auto Layer>
struct curvature {
    constexpr auto operator()(auto x) const {
        return cn::grad([](auto t) { return cn::sum(cn::square(slope<Layer>{}(t))); }, x);
    }
};

} // namespace

TEST_CASE("slopes of dense layers") {
    against_finite_differences(run_of<slope<dense<3>>{}, shape<4>>());
    against_finite_differences(run_of<slope<dense<3>>{}, shape<2, 4>>());
    against_finite_differences(run_of<slope<dense<40>.no_bias()>{}, shape<33>>());
    against_finite_differences(
        run_of<slope<cn::block<dense<5>, cn::tanh, dense<2>>>{}, shape<3>>());
    against_finite_differences(
        run_of<slope<cn::block<cn::flatten, dense<3>>>{}, shape<2, 3, 2>, true, 2>());
    against_finite_differences(
        run_of<curvature<cn::block<dense<3>, cn::tanh, dense<2>>>{}, shape<2>>(), 1e-6);
}

TEST_CASE("slopes of convolutions") {
    against_finite_differences(
        run_of<slope<conv2d<2, 3, conv{.stride = 2, .padding = 1}>>{}, shape<3, 5, 4>, true, 2>());
    against_finite_differences(
        run_of<slope<cn::conv_transpose2d<2, 3, cn::conv_transpose{.stride = 2}>>{}, shape<3, 2, 3>,
               true, 2>());
    against_finite_differences(run_of<slope<cn::conv1d<3, 2>>{}, shape<5, 2>, true, 2>());
    against_finite_differences(
        run_of<slope<cn::block<conv2d<2, 2>, cn::layer_norm, cn::silu, cn::flatten, dense<2>>>{},
               shape<2, 3, 3>, true, 2>(),
        1e-6);
}

TEST_CASE("slopes of pooling and up-sampling") {
    against_finite_differences(run_of<slope<cn::avg_pool2d<2>>{}, shape<2, 4, 5>>());
    against_finite_differences(
        run_of<slope<cn::avg_pool2d<3, pooling{.stride = 1, .padding = cn::same}>>{},
               shape<2, 4, 5>>());
    against_finite_differences(run_of<slope<cn::adaptive_avg_pool2d<2>>{}, shape<2, 5, 3>>());
    against_finite_differences(run_of<slope<cn::global_avg_pool2d>{}, shape<2, 3, 3>>());
    against_finite_differences(run_of<slope<cn::avg_pool1d<2>>{}, shape<6, 2>>());
    against_finite_differences(run_of<slope<cn::upsample2d<2>>{}, shape<2, 2, 3>>());
    against_finite_differences(run_of<slope<cn::upsample2d<2>.bilinear()>{}, shape<2, 2, 3>>());
}

namespace {

struct adapted { // a parameter after a step down the loss of each sample
    constexpr auto operator()(auto x) const {
        auto const w = cn::new_parameter<shape<3>>(*x.g, "w", {});
        auto const loss = [](auto v, auto y) { return cn::sum(cn::square(v) * y); };
        return w - cn::grad(loss, w, x) / 4 + cn::hvp(loss, x, w, x);
    }
};

} // namespace

TEST_CASE("a gradient by what samples share is one of each sample") {
    auto r = run_of<adapted{}, shape<3>, true, 2>();
    check::values const x = check::random_values(6, 1), w = check::random_values(3, 2);
    r.set_input(x);
    r.set(r.parameters()[0].name.text(), w);
    r.set_grad_output(check::random_values(6, 3));
    r.run();
    check::values expected(6);
    for (std::size_t i = 0; i < 6; ++i) {
        expected[i] = w[i % 3] - w[i % 3] * x[i] / 2 + 2 * x[i] * x[i];
    }
    check::close("output", r.output(), expected, 1e-14);
    against_finite_differences(run_of<adapted{}, shape<3>, true, 2>());
}
