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
