// Networks with everything that a planner meets, and their plans, made at run time.
#pragma once

#include <castnet/castnet.hpp>

namespace planned {

namespace cn = castnet;
using device = cn::cpu_device<float>;

struct u_shaped {
    constexpr auto operator()(auto x) const {
        auto const step = [](auto y, auto layer) { return cn::relu(layer(y)); };
        auto const skip = step(x, cn::conv2d<4, 3, cn::conv{.padding = 1}>);
        auto const low = step(skip | cn::max_pool2d<2>, cn::conv2d<8, 3, cn::conv{.padding = 1}>);
        auto const up = cn::concat(low | cn::upsample2d<2>, skip);
        return up | cn::conv2d<1, 1>;
    }
};
struct twins {
    static constexpr auto encode = cn::shared<"encoder", cn::block<cn::dense<6>, cn::tanh>>;
    constexpr auto operator()(auto a, auto b) const {
        auto const x = a | encode, y = b | encode;
        return cn::concat(x, y, x * y) | cn::softmax | cn::dense<3>;
    }
};

using cn::input;
using chain =
    cn::sequential<input<2, 9, 9>, cn::conv2d<4, 3>, cn::batch_norm, cn::relu, cn::dropout<0.5F>,
                   cn::max_pool2d<2>, cn::flatten, cn::dense<10>, cn::gelu, cn::dense<3>>;
using residual = cn::sequential<
    input<3, 8, 8>, cn::residual<cn::conv2d<3, 3, cn::conv{.padding = 1}>, cn::batch_norm>,
    cn::relu,
    cn::projected_residual<cn::conv2d<6, 1, cn::conv{.stride = 2}>,
                           cn::conv2d<6, 2, cn::conv{.stride = 2}>, cn::batch_norm, cn::silu>,
    cn::frozen<cn::batch_norm>, cn::global_avg_pool2d, cn::dense<4>, cn::softmax>;
using reshaped = cn::sequential<input<24>, cn::reshape<2, 3, 4>, cn::tanh, cn::reshape<4, 1, 6>,
                                cn::residual<cn::sigmoid>, cn::flatten, cn::reshape<4, 6>,
                                cn::dense<3>, cn::log_softmax, cn::flatten, cn::dense<2>>;
using two_inputs = cn::network<twins{}, input<5>, input<5>>;
using branches = cn::network<u_shaped{}, input<2, 8, 8>>;

// The graph of a training step and what leaves it.
template <class Network, class Loss>
struct traced {
    cn::graph graph;
    cn::results wanted;

    explicit traced(bool training = true)
        : graph{training}, wanted{cn::detail::step_recipe<Loss>::template build<Network>(graph)} {}

    cn::draft plan(int batch) const { return cn::planner<device>{graph, wanted, batch}.run(); }
};

using mse = cn::mse_loss;

} // namespace planned
