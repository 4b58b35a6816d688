// Networks with everything that a planner meets, and their plans, made at run time.
#pragma once

#include <castnet/castnet.hpp>

namespace planned {

namespace cn = castnet;
using device = cn::cpu_device<float>;

// What a planner asks of a device without chunks whose libraries finish products: a bias, and relu
// behind a convolution, gelu_tanh behind a dense product, and the gradient of a dense layer's bias.
struct finishing_device {
    static constexpr std::ptrdiff_t alignment = cn::ir::cpu_alignment;
    static constexpr cn::ir::scratch_size
    scratch(cn::ir::kernel_launch const&, cn::ir::window const*, cn::ir::instruction const&) {
        return {};
    }
    static constexpr bool takes_epilogue(cn::op product, cn::ir::epilogue const& e) {
        return e.bias_gradient
                   ? product == cn::op::matmul_weight
                   : !e.activates || e.activation == (product == cn::op::conv ? cn::fn::relu
                                                                              : cn::fn::gelu_tanh);
    }
};

// And whose products read bfloat16, where others compute in float.
struct bf16_device : finishing_device {
    static constexpr int bf16_per_value = 2;
};

// And whose launches have several results.
struct joining_device : bf16_device {
    static constexpr bool joins_launches = true;
};

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

using pooled = cn::sequential<input<1, 20, 20>, cn::conv2d<4, 3, cn::conv{.padding = 1}>, cn::relu,
                              cn::max_pool2d<2>, cn::conv2d<6, 3>, cn::relu, cn::max_pool2d<2>,
                              cn::conv2d<8, 3>, cn::relu, cn::flatten, cn::dense<5>>;

// Values so large that a device may compute them again for the backward pass.
using recomputed =
    cn::sequential<input<3, 64, 64>, cn::conv2d<8, 1>.no_bias(), cn::batch_norm, cn::relu,
                   cn::residual<cn::conv2d<8, 3, cn::conv{.padding = 1}>.no_bias(), cn::batch_norm>,
                   cn::silu, cn::conv2d<8, 3, cn::conv{.padding = 1}>, cn::dropout<0.5F>, cn::tanh,
                   cn::max_pool2d<2>, cn::flatten, cn::dense<5>>;

using mse = cn::mse_loss;

// The graph of a program, as the planner gets it. A constant: while the program runs, compilers may
// evaluate the operands of an expression in another order.
template <class Recipe, class Network, bool Training, int Devices = 1, class Device = device>
struct graph_of {
    struct tracing {
        cn::ir::graph g{Training};
        cn::ir::results wanted = Recipe::template build<Network>(g);
        constexpr tracing() {
            cn::ir::differentiate(g, wanted);
            cn::ir::place_on_devices(g, wanted, Devices);
            if constexpr (requires { requires Recipe::keeps_parameters; }) {
                cn::ir::batch_norm_folding folding{g, wanted};
                folding.run();
            }
            if constexpr (cn::ir::JoiningDevice<Device>) {
                cn::ir::one_pass_statistics{g, wanted}.run();
            }
            if constexpr (cn::ir::MixedPrecisionDevice<Device>) {
                cn::ir::copies_for_products{g, wanted}.run();
            }
            cn::ir::compute_again(g, wanted, cn::ir::RecomputingDevice<Device>);
        }
    };
    static constexpr cn::ir::traced_sizes size() {
        tracing const t;
        return cn::ir::sizes_of(t.g, t.wanted);
    }
    static constexpr cn::ir::traced_graph<size()> make() {
        tracing const t;
        return {t.g, t.wanted};
    }
    static constexpr cn::ir::traced_graph<size()> value = make();
};

// A plan without its sizes.
struct plan_view {
    cn::ir::kernel_launch const* launches;
    cn::ir::stage const* stages;
    cn::ir::array_ref const* arrays;
    cn::ir::window const* windows;
    cn::ir::instruction const* instructions;
    int const* first_instruction;
    cn::ir::placed_parameter const* parameters;
    cn::ir::array_ref const *inputs, *targets, *outputs;
    std::ptrdiff_t const* size;
    cn::ir::device_memory const* devices;
    std::ptrdiff_t trainable, weights, sample_mask, present;
    cn::ir::plan_sizes sizes;

    std::ptrdiff_t elements(cn::ir::region r) const { return size[int(r)]; }
};

template <class Recipe, class Network, bool Training, std::size_t Batch, class Device = device>
plan_view view_of() {
    constexpr auto const& p =
        cn::detail::compiled_step<Recipe, Network, Device, Batch, Training>::value;
    return {p.launches,   p.stages,  p.arrays,      p.windows, p.instructions, p.first_instruction,
            p.parameters, p.inputs,  p.targets,     p.outputs, p.size,         p.devices,
            p.trainable,  p.weights, p.sample_mask, p.present, p.sizes};
}

} // namespace planned
