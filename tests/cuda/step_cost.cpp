// What training steps on a GPU move, compute and launch, counted on their plans; so that none of it
// grows unseen.
#include <castnet/castnet.hpp>
#include <castnet/train/cuda_cost.hpp>
#include <castnet/zoo/resnet.hpp>

#include "simulated_device.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <string>
#include <tuple>

namespace cn = castnet;
using cn::input, cn::step_cost;
using doctest::Approx;

namespace {

using convnet = cn::sequential<input<1, 28, 28>, cn::conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
                               cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>, cn::conv2d<64, 3>,
                               cn::relu, cn::flatten, cn::dense<64>, cn::relu, cn::dense<10>>;
using tiny =
    cn::sequential<input<13>, cn::dense<16>, cn::relu, cn::dense<32>, cn::relu, cn::dense<1>>;

using clipping = decltype(cn::clip_norm(cn::momentum{}, 1));

// Of policy::bf16<policy::cuda>.
template <class Network, std::size_t Batch, class Optimizer = cn::momentum>
constexpr step_cost in_bf16() {
    using recipe = cn::detail::step_recipe<cn::cross_entropy_loss<0.0F>,
                                           std::remove_cvref_t<decltype(cn::accuracy)>>;
    using compiled =
        cn::detail::compiled_step<recipe, Network, cn::cuda::planning<float, true>, Batch, true>;
    using rule = cn::detail::rule_of<Optimizer, float>;
    return cn::cuda::cost_of_step<float, 1, rule>(compiled::value);
}

template <bool OneBlock>
struct training_of_tiny {
    cn::model<tiny, simt::policy<OneBlock>, cn::batch<32>> model{cn::seed{1}};
    decltype(cn::compile(model, cn::mse, cn::adam{})) training =
        cn::compile(model, cn::mse, cn::adam{});
};

} // namespace

TEST_CASE("a step of ResNet-50 moves no more bytes and launches no more kernels than before") {
    constexpr step_cost cost = in_bf16<cn::zoo::resnet50, 256>();
    CHECK(cost.bytes < 92.2e9);
    CHECK(cost.kernels <= 432);
    CHECK(cost.product_flops == Approx(6.22e12).epsilon(0.01));
}

TEST_CASE("neither does one of a small convolutional network") {
    constexpr step_cost cost = in_bf16<convnet, 512>();
    CHECK(cost.bytes < 194e6);
    CHECK(cost.kernels <= 22);
}

TEST_CASE("the cost of a step is that of its launches") {
    training_of_tiny<false> all;
    step_cost const cost = cn::cuda_cost(all.training);
    CHECK(cost.kernels == all.training.training_plan().sizes.launches + 1);
    double const multiplications = 32 * (2.0 * 13 * 16 + 3.0 * 16 * 32 + 3.0 * 32);
    CHECK(cost.product_flops == Approx(2 * multiplications).epsilon(0.1)); // with biases
    double const update = double(all.training.training_plan().trainable) * 7 * sizeof(double);
    CHECK(cost.bytes > update);
    CHECK(cn::cost_report(all.training).find(" kernels\n") != std::string::npos);
}

// The kernels that end the step of a training are those of its cost, besides the plan's.
template <class Optimizer>
void check_closing(Optimizer const& optimizer, int expected) {
    cn::model<tiny, simt::policy<false>, cn::batch<32>> model{cn::seed{1}};
    auto const training = cn::compile(model, cn::mse, optimizer);
    static constexpr auto const& plan = decltype(training)::training_plan();
    using rule = cn::detail::rule_of<Optimizer, double>;
    using calls =
        decltype(cn::cuda::closing_calls<simt::device<double, false>, plan, Optimizer::slots, rule>(
            simt::context<double>{}, nullptr, {}, nullptr));
    CHECK(std::tuple_size_v<calls> == std::size_t(expected));
    CHECK(cn::cuda_cost(training).kernels == plan.sizes.launches + expected);
}

TEST_CASE("the norm of a gradient is kernels of a step, and so are those of whole parameters") {
    check_closing(cn::momentum{}, 1);
    check_closing(cn::clip_norm(cn::momentum{}, 1), 3);
    check_closing(cn::lamb{}, 3);
    check_closing(cn::clip_each_norm(cn::adam{}, 1), 3);
    constexpr step_cost plain = in_bf16<convnet, 512>(),
                        clipped = in_bf16<convnet, 512, clipping>();
    CHECK(clipped.kernels == plain.kernels + 3); // gradients are widened before, too
    CHECK(clipped.bytes > plain.bytes);
}

TEST_CASE("directions that become orthogonal are products of a step") {
    cn::model<tiny, simt::policy<false>, cn::batch<32>> model{cn::seed{1}};
    auto const plain = cn::compile(model, cn::mse, cn::momentum{});
    auto const training = cn::compile(model, cn::mse, cn::muon{});
    step_cost const without = cn::cuda_cost(plain), with = cn::cuda_cost(training);
    int const of_a_weight = 1 + 5 * 3; // its norm, and Newton's and Schulz's steps
    CHECK(with.kernels == without.kernels + 2 + 3 * of_a_weight);
    auto const products = [](double smaller, double larger) {
        return 5 * 2 * (2 * smaller * smaller * larger + smaller * smaller * smaller);
    };
    CHECK(with.product_flops - without.product_flops ==
          Approx(products(13, 16) + products(16, 32) + products(1, 32)));
    CHECK(with.bytes > without.bytes);
}

TEST_CASE("a step that is one kernel has one launch") {
    training_of_tiny<true> one;
    step_cost const cost = cn::cuda_cost(one.training);
    CHECK(cost.kernels == 1);
    CHECK(cost.bytes < cn::cuda_cost(training_of_tiny<false>{}.training).bytes);
    CHECK(cn::cuda_floor(one.training, {1e12, 1e12, 1e12, 1}) == 1.0);
}

TEST_CASE("products that make directions orthogonal follow a step that is one kernel") {
    cn::model<tiny, simt::policy<true>, cn::batch<32>> model{cn::seed{1}};
    auto const plain = cn::compile(model, cn::mse, cn::momentum{});
    auto const training = cn::compile(model, cn::mse, cn::muon{});
    step_cost const without = cn::cuda_cost(plain), with = cn::cuda_cost(training);
    CHECK(with.kernels == without.kernels + 2 + 3 * (1 + 5 * 3));
    CHECK(with.product_flops > without.product_flops);
    CHECK(with.bytes > without.bytes);
    CHECK(cn::cuda_floor(training, {1e12, 1e12, 1e12, 1}) == with.kernels);
}

TEST_CASE("the floor of a launch is set by what takes it longest, that of a step by all launches") {
    cn::gpu_limits const gpu{.bytes_per_second = 100,
                             .product_flops_per_second = 1000,
                             .other_flops_per_second = 10,
                             .seconds_per_kernel = 0.5};
    CHECK(cn::cuda::floor_of({.bytes = 200, .kernels = 1}, gpu) == 2);
    CHECK(cn::cuda::floor_of({.bytes = 200, .product_flops = 4000, .kernels = 1}, gpu) == 4);
    CHECK(cn::cuda::floor_of({.bytes = 200, .other_flops = 30, .kernels = 2}, gpu) == 3);
    CHECK(cn::cuda::floor_of({.bytes = 2, .kernels = 2}, gpu) == 1);
    training_of_tiny<false> all;
    double const huge = 1e30;
    CHECK(cn::cuda_floor(all.training, {huge, huge, huge, 2}) ==
          Approx(2 * cn::cuda_cost(all.training).kernels));
    CHECK(cn::cost_report(all.training, gpu).find("floor: ") != std::string::npos);
}
