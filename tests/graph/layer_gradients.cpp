// The derived gradients of layers and of networks built from them, against finite differences.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/batch_norm.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/dropout.hpp>
#include <castnet/nn/pooling.hpp>
#include <castnet/nn/reshape.hpp>

#include "../nn/harness.hpp"

namespace cn = castnet;
using check::against_finite_differences, check::run_of;
using cn::conv, cn::conv2d, cn::dense, cn::input, cn::pooling, cn::shape, cn::size2;

namespace {

template <class Network>
void of_network() {
    against_finite_differences(check::layer_run::of<Network, true, 3>());
}

struct join_three {
    constexpr auto operator()(auto a, auto b, auto c) const {
        return cn::concat(a, cn::sin(b), c) * 2;
    }
};
struct join_with_itself {
    constexpr auto operator()(auto a) const { return cn::concat(a, a, cn::square(a)); }
};

struct split_and_join { // reads some channels twice and others not at all
    constexpr auto operator()(auto a) const {
        auto const first = a | cn::slice_channels<0, 2>, last = a | cn::slice_channels<3, 2>;
        return cn::concat(cn::sin(last), first * last, a | cn::slice_channels<1, 1>);
    }
};

// y = scale * x + scale^2: a parameter of one's own, read twice.
struct scaled {
    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"scaled"}};
        auto const scale = cn::new_parameter<S>(*x.g, "scale", {cn::role::vector, cn::ones});
        return scale * x + cn::square(scale);
    }
};

struct twins { // one layer for both inputs, and once more behind the first
    static constexpr auto encode = cn::shared<"encoder", dense<4>>;
    constexpr auto operator()(auto a, auto b) const {
        auto const x = a | encode | cn::tanh, y = b | encode;
        return x * y + (x | encode);
    }
};

struct nested { // a network as a layer of another
    using inner = cn::sequential<input<4>, dense<3>, cn::silu, dense<4>>;
    constexpr auto operator()(auto x) const { return x + inner{}(x); }
};

struct stretched { // its parameter is seen in another shape only
    constexpr auto operator()(auto x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"stretched"}};
        auto const w = cn::new_parameter<shape<6>>(*x.g, "w", {});
        return x * cn::reshape<2, 3>(w);
    }
};

struct same_gradient_twice { // the gradients with respect to both biases are one and the same sum
    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"biases"}};
        return x + cn::new_parameter<S>(*x.g, "one", {}) + cn::new_parameter<S>(*x.g, "two", {});
    }
};

} // namespace

TEST_CASE("convolution beyond the golden cases") {
    against_finite_differences(
        run_of<conv2d<4, 3, conv{.stride = 2, .padding = cn::same, .dilation = 2, .groups = 2}>,
               shape<2, 7, 6>, true, 2>());
    against_finite_differences(
        run_of<conv2d<3, size2{2, 3}, conv{.stride = size2{1, 3}, .padding = size2{1, 0}}>,
               shape<2, 5, 7>, true, 2>());
    against_finite_differences(run_of<conv2d<1, 5>, shape<2, 5, 5>, true, 2>()); // to one pixel
    against_finite_differences(run_of<conv2d<33, 1>, shape<1, 1, 2>, true, 2>());
    // of few channels
    against_finite_differences(run_of<conv2d<4, 3>, shape<1, 5, 8>, true, 3>());
    against_finite_differences(
        run_of<conv2d<6, size2{3, 4}, conv{.stride = size2{2, 3}, .padding = size2{1, 2}}>,
               shape<2, 7, 9>, true, 2>());
    against_finite_differences(
        run_of<conv2d<2, 3, conv{.padding = cn::same, .dilation = 2}>, shape<2, 6, 5>, true, 2>());
    against_finite_differences(
        run_of<conv2d<2, 3, conv{.padding = 2}>, shape<17, 3, 3>, true, 1>());
}

TEST_CASE("pooling that skips pixels or overlaps") {
    against_finite_differences(
        run_of<cn::max_pool2d<size2{2, 3}, pooling{.stride = size2{3, 1}}>, shape<2, 7, 5>>());
    against_finite_differences(
        run_of<cn::avg_pool2d<3, pooling{.stride = 1, .padding = cn::same}>, shape<2, 4, 5>>());
    against_finite_differences(run_of<cn::upsample2d<3>, shape<2, 2, 3>>());
}

TEST_CASE("dense") {
    against_finite_differences(run_of<dense<1>, shape<1>>());
    against_finite_differences(run_of<dense<35>, shape<3>>());
    against_finite_differences(run_of<dense<4>.no_bias(), shape<3, 5>>());
}

TEST_CASE("batch_norm in training and with running statistics") {
    against_finite_differences(run_of<cn::batch_norm, shape<3>>(), 1e-6);
    against_finite_differences(run_of<cn::batch_norm, shape<4, 3>>(), 1e-6);
    against_finite_differences(run_of<cn::batch_norm, shape<3, 2, 4>>(), 1e-6);
    against_finite_differences(run_of<cn::batch_norm, shape<3, 2, 4>, false>());
    against_finite_differences(run_of<cn::frozen<cn::batch_norm>, shape<3, 2, 4>>());
    against_finite_differences(run_of<cn::batch_norm.no_affine(), shape<3, 2, 4>>(), 1e-6);
    against_finite_differences(run_of<cn::batch_norm.no_affine(), shape<3, 2, 4>, false>());
}

TEST_CASE("dropout keeps its choice within a step") {
    against_finite_differences(run_of<cn::dropout<0.4F>, shape<50>>());
    against_finite_differences(
        run_of<cn::block<cn::dropout<0.5F>, dense<4>, cn::tanh, cn::dropout<0.25F>>, shape<7>>());
}

TEST_CASE("reshape and flatten move what lies elsewhere in memory") {
    against_finite_differences(run_of<cn::block<cn::flatten, dense<3>>, shape<3, 2, 4>>());
    against_finite_differences(run_of<cn::block<cn::reshape<2, 3, 4>, conv2d<2, 2>>, shape<24>>());
    against_finite_differences(run_of<cn::block<cn::reshape<4, 6>, dense<3>>, shape<2, 3, 4>>());
    against_finite_differences(
        run_of<cn::block<cn::tanh, cn::reshape<4, 1, 6>, cn::residual<cn::tanh>, cn::reshape<6, 4>,
                         dense<2>, cn::flatten>,
               shape<2, 3, 4>>());
}

TEST_CASE("concat") {
    of_network<cn::network<join_three{}, input<2>, input<3>, input<1>>>();
    of_network<cn::network<join_three{}, input<4, 2>, input<4, 3>, input<4, 1>>>();
    of_network<cn::network<join_three{}, input<2, 3, 2>, input<1, 3, 2>, input<3, 3, 2>>>();
    against_finite_differences(run_of<join_with_itself{}, shape<2, 3, 2>>());
}

TEST_CASE("slices of channels") {
    against_finite_differences(run_of<split_and_join{}, shape<6>>());
    against_finite_differences(run_of<split_and_join{}, shape<3, 6>>());
    against_finite_differences(run_of<split_and_join{}, shape<6, 2, 3>>());
}

TEST_CASE("residual blocks") {
    against_finite_differences(run_of<cn::residual<dense<4>, cn::tanh, dense<4>>, shape<4>>());
    against_finite_differences(
        run_of<cn::block<cn::projected_residual<conv2d<3, 1, conv{.stride = 2}>,
                                                conv2d<3, 3, conv{.stride = 2, .padding = 1}>,
                                                cn::batch_norm, cn::tanh>,
                         cn::silu>,
               shape<2, 4, 4>>(),
        1e-6);
    against_finite_differences(
        run_of<cn::block<cn::residual<cn::residual<dense<3>>, cn::tanh>, dense<2>>, shape<3>>());
}

TEST_CASE("a shared layer gathers the gradients of all its places") {
    of_network<cn::network<twins{}, input<4>, input<4>>>();
}

TEST_CASE("layers of one's own, networks as layers") {
    against_finite_differences(run_of<cn::block<scaled{}, cn::tanh>, shape<2, 3, 4>>());
    against_finite_differences(run_of<cn::block<scaled{}, cn::tanh>, shape<3, 4>>());
    against_finite_differences(run_of<nested{}, shape<4>>());
    against_finite_differences(run_of<same_gradient_twice{}, shape<4>>());
    against_finite_differences(run_of<stretched{}, shape<2, 3>>());
}

TEST_CASE("gradients pass through what is frozen") {
    against_finite_differences(
        run_of<cn::block<dense<4>, cn::frozen<dense<5>, cn::tanh, cn::batch_norm>, dense<2>>,
               shape<3>>());
}
