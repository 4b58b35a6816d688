// The memory of plans.
#include <castnet/zoo/resnet.hpp>

#include "labelled_run.hpp"

#include <type_traits>

namespace cn = castnet;
using namespace planned;

namespace {

// All of a plan is in its type: templates that take it take an empty object.
using step =
    cn::detail::compiled_step<cn::detail::step_recipe<planned::mse>, chain, device, 4, true>;
static_assert(std::is_empty_v<std::remove_cvref_t<decltype(step::value)>>);

template <class Network, bool Training, std::size_t Batch, class Loss, class Device>
void check_plan(char const* name) {
    CAPTURE(name);
    CAPTURE(Training);
    using recipe = cn::detail::step_recipe<Loss>;
    using traced = graph_of<recipe, Network, Training, 1, Device>;
    constexpr auto const& graph = traced::value;
    cn::ir::fused_groups<Device, traced::size().nodes> const groups{graph.view()};
    plan_view const d = view_of<recipe, Network, Training, Batch, Device>();
    labelled_run const run{graph.view(), groups.view(), int(Batch), d};
    auto const peak = d.elements(region::workspace);
    CHECK(peak < run.written()); // memory is used again
    CHECK(peak >= run.most_alive());
    // and with few gaps, of which large blocks for the whole batch leave more
    CHECK(double(peak) <= (cn::ir::ChunkDevice<Device> ? 1.3 : 1.7) * double(run.most_alive()));
}

template <class Network, std::size_t Batch = 4, class Loss = planned::mse, class Device = device>
void check_plans(char const* name) {
    check_plan<Network, true, Batch, Loss, Device>(name);
    check_plan<Network, false, Batch, Loss, Device>(name);
}

template <class Device>
void check_plans_for() {
    check_plans<chain, 4, planned::mse, Device>("chain");
    check_plans<residual, 4, planned::mse, Device>("residual");
    check_plans<two_inputs, 4, planned::mse, Device>("two inputs");
    check_plans<branches, 4, planned::mse, Device>("branches");
    check_plans<pooled, 3, planned::mse, Device>("pooled");
}

} // namespace

TEST_CASE("every step reads what the graph says") {
    check_plans<chain>("chain");
    check_plans<chain, 1>("chain");
    check_plans<residual>("residual");
    check_plans<reshaped>("reshaped");
    check_plans<two_inputs>("two inputs");
    check_plans<branches>("branches");
    check_plans<pooled, 20>("pooled");
    check_plans<pooled, 3>("pooled");
    check_plans<branches, 33>("branches");
    check_plans<recomputed>("recomputed");
}

TEST_CASE("also where products are finished with a bias and a function") {
    check_plans_for<finishing_device>();
}

TEST_CASE("also where products read bfloat16") {
    check_plans_for<bf16_device>();
}

TEST_CASE("also where launches have several results") {
    check_plans_for<joining_device>();
}

TEST_CASE("also where the gradient of max pooling is stored by what computes it") {
    using network = cn::sequential<input<1, 19, 21>, cn::conv2d<4, 3>, cn::relu, cn::max_pool2d<2>,
                                   cn::conv2d<8, 3>, cn::tanh, cn::max_pool2d<3>, cn::flatten>;
    check_plans<network, 4, planned::mse, joining_device>("pooled");
}

TEST_CASE("also where launches join by rows") {
    using sequence =
        cn::sequential<input<6, 8>, cn::layer_norm, cn::dense<5>, cn::gelu, cn::layer_norm,
                       cn::softmax, cn::flatten, cn::dense<7>, cn::layer_norm>;
    check_plans<sequence, 4, planned::mse, joining_device>("layer normalisation");
    using classifier = cn::sequential<input<9>, cn::dense<6>, cn::layer_norm, cn::dense<4>>;
    check_plans<classifier, 4, cn::cross_entropy_loss<0.0F>, joining_device>("cross-entropy");
}

namespace {

// How much the workspace of a training step of `Batch` samples grows by one more layer.
template <class Shallow, class Deep, int Layers, std::size_t Batch>
double growth() {
    auto const elements = [](auto const& plan) { return double(plan.elements(region::workspace)); };
    using recipe = cn::detail::step_recipe<planned::mse>;
    return (elements(cn::detail::compiled_step<recipe, Deep, device, Batch, true>::value) -
            elements(cn::detail::compiled_step<recipe, Shallow, device, Batch, true>::value)) /
           Layers;
}

constexpr auto convolution =
    cn::block<cn::conv2d<8, 3, cn::conv{.padding = 1}>.no_bias(), cn::batch_norm, cn::relu>;
template <auto... Layers>
using of_images = cn::sequential<input<8, 32, 32>, Layers..., cn::global_avg_pool2d, cn::dense<2>>;

constexpr auto feed_forward = cn::residual<cn::layer_norm, cn::dense<128>, cn::gelu, cn::dense<64>>;
template <auto... Layers>
using of_sequences = cn::sequential<input<256, 64>, Layers..., cn::flatten, cn::dense<2>>;

} // namespace

TEST_CASE("what the backward pass can compute again is not kept") {
    constexpr std::size_t batch = 16;
    constexpr double images = batch * 8 * 32 * 32, sequences = batch * 256 * 64;
    // The convolution's result, and the statistics.
    double const of_layer = growth<
        of_images<convolution, convolution, convolution>,
        of_images<convolution, convolution, convolution, convolution, convolution, convolution>, 3,
        batch>();
    CHECK(of_layer >= images);
    CHECK(of_layer < 1.01 * images);
    // What the norm and gelu read, but not their results.
    double const of_block =
        growth<of_sequences<feed_forward, feed_forward>,
               of_sequences<feed_forward, feed_forward, feed_forward, feed_forward>, 2, batch>();
    CHECK(of_block >= 3 * sequences);
    CHECK(of_block < 3.1 * sequences);
}

// Batch normalisation behind convolutions of every kind of weight, a product and a sum.
using normalized = cn::sequential<
    cn::input<4, 12, 12>, cn::conv2d<8, 3>, cn::batch_norm, cn::relu,
    cn::residual<cn::conv2d<8, 3, cn::conv{.padding = 1, .groups = 8}>, cn::batch_norm>,
    cn::conv2d<64, 3, cn::conv{.padding = 1}>.no_bias(), cn::batch_norm, cn::relu,
    cn::conv2d<64, 3>, cn::flatten, cn::dense<8>, cn::batch_norm, cn::dense<3>>;

TEST_CASE("also where predictions keep what they compute of the parameters") {
    using recipe = cn::detail::prediction_recipe;
    using traced = graph_of<recipe, normalized, false>;
    constexpr auto const& graph = traced::value;
    cn::ir::fused_groups<device, traced::size().nodes> const groups{graph.view()};
    plan_view const d = view_of<recipe, normalized, false, 2>();
    labelled_run const run{graph.view(), groups.view(), 2, d};
    auto const norms =
        std::count_if(d.instructions, d.instructions + d.sizes.instructions,
                      [](cn::ir::instruction const& i) { return i.function == cn::fn::normalize; });
    CHECK(norms == 0);
    CHECK(d.elements(region::prepared) > 0);
}

TEST_CASE("also in large networks") {
    check_plans<cn::zoo::resnet50, 2, cn::cross_entropy_loss<0.0F>>("ResNet-50");
}
