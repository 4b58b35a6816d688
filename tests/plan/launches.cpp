// Launches of plans: what becomes one, and what becomes none at all.
#include "networks.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;
using namespace planned;
using cn::op, cn::ir::region;

namespace {

template <class Network>
plan_view prediction_of() {
    return view_of<cn::detail::prediction_recipe, Network, false, 8>();
}
template <class Network>
plan_view training_of() {
    return view_of<cn::detail::step_recipe<planned::mse>, Network, true, 8>();
}

template <class Network, bool Training = false>
plan_view finished() {
    using recipe = std::conditional_t<Training, cn::detail::step_recipe<planned::mse>,
                                      cn::detail::prediction_recipe>;
    return view_of<recipe, Network, Training, 8, finishing_device>();
}

std::vector<op> kinds(plan_view const& d) {
    std::vector<op> all;
    for (int i = 0; i < d.sizes.launches; ++i) {
        all.push_back(d.launches[i].kind);
    }
    return all;
}

int count(plan_view const& d, op kind) {
    int n = 0;
    for (int i = 0; i < d.sizes.launches; ++i) {
        n += d.launches[i].kind == kind;
    }
    return n;
}

cn::ir::array_ref const& output(plan_view const& d, int step) {
    return d.arrays[d.launches[step].output];
}
cn::ir::array_ref const& operand(plan_view const& d, int step, int i = 0) {
    return d.arrays[d.launches[step].first_array + i];
}

using steps = std::vector<op>;

// Without the assertions of a whole program.
template <class Network, bool Training>
constexpr cn::ir::launch_list_sizes steps_of() {
    using graph = graph_of<cn::detail::step_recipe<planned::mse>, Network, Training>;
    cn::ir::list<int> const groups = cn::ir::fuse(graph::value.view());
    cn::ir::launch_list_builder<device> s{graph::value.view(), {groups.data()}};
    cn::ir::launch_list_draft const d = s.run();
    return d.sizes;
}

struct forgets {
    constexpr auto operator()(auto x, auto y) const {
        static_cast<void>(y);
        return x | cn::dense<2>;
    }
};
struct detour {
    constexpr auto operator()(auto x) const {
        static_cast<void>(x | cn::named<"detour", cn::dense<2>>);
        return x | cn::named<"used", cn::dense<2>>;
    }
};

} // namespace

TEST_CASE("bias and activation are one step, which overwrites the convolution") {
    using network = cn::sequential<input<1, 6, 6>, cn::conv2d<4, 3>, cn::tanh, cn::max_pool2d<2>>;
    auto const d = prediction_of<network>();
    CHECK(kinds(d) == steps{op::conv, op::map, op::max_pool});
    CHECK(output(d, 1).offset == output(d, 0).offset);
    CHECK(output(d, 1).where == region::workspace);
}

TEST_CASE("where the device joins launches, a step of a loop computes all gates at once") {
    using network = cn::sequential<input<5, 6>, cn::lstm<4>>;
    using recipe = cn::detail::step_recipe<planned::mse>;
    auto const maps_in_loops = [](plan_view const& d) {
        int n = 0;
        for (int i = 0; i < d.sizes.launches; ++i) {
            n += d.launches[i].kind == op::map && d.launches[i].loop >= 0;
        }
        return n;
    };
    auto const alone = view_of<recipe, network, true, 8>(),
               joined = view_of<recipe, network, true, 8, joining_device>();
    CHECK(maps_in_loops(alone) > 8);
    CHECK(maps_in_loops(joined) == 2);       // forward and backward
    CHECK(count(joined, op::feedback) == 0); // states are stored where the next step reads them
    for (int i = 0; i < joined.sizes.launches; ++i) {
        if (joined.launches[i].kind == op::map && joined.launches[i].loop == 0) {
            // four gates, the cell, the output, and both for the next step
            CHECK(joined.launches[i].results == 8);
        }
    }
}

TEST_CASE(
    "where the device joins launches, a slice that is kept for the backward pass is one's result") {
    using network = cn::sequential<input<5, 6>, cn::gru<4>>;
    using recipe = cn::detail::step_recipe<planned::mse>;
    auto const in_loop = [](plan_view const& d, int loop) {
        steps all;
        for (int i = 0; i < d.sizes.launches; ++i) {
            if (d.launches[i].loop == loop) {
                all.push_back(d.launches[i].kind);
            }
        }
        return all;
    };
    auto const alone = in_loop(view_of<recipe, network, true, 8>(), 0);
    CHECK(std::count(alone.begin(), alone.end(), op::slice) == 1);
    auto const joined = view_of<recipe, network, true, 8, joining_device>();
    CHECK(in_loop(joined, 0) == steps{op::matmul, op::map});
}

TEST_CASE("where the device can, a bias and a function are part of their product's step") {
    using image = cn::sequential<input<1, 6, 6>, cn::conv2d<4, 3>, cn::relu, cn::max_pool2d<2>,
                                 cn::flatten, cn::dense<3>>;
    auto const d = finished<image>();
    CHECK(kinds(d) == steps{op::conv, op::max_pool, op::matmul});
    CHECK(d.launches[0].end == cn::ir::epilogue{true, true, cn::fn::relu});
    CHECK(d.launches[2].end == cn::ir::epilogue{true});
    CHECK(d.launches[0].flops == 16 * 4 * (2 * 9 + 2));
    // the factors, the result, the bias; and by itself a launch on the last two
    REQUIRE(d.launches[0].arrays == 4);
    CHECK(operand(d, 0, 0).where == region::batch);
    CHECK(operand(d, 0, 1).where == region::parameters);
    CHECK(operand(d, 0, 2).offset == output(d, 0).offset);
    CHECK(operand(d, 0, 3).offset == d.parameters[1].offset);
    cn::ir::kernel_launch const alone = cn::ir::epilogue_launch(d.launches[0]);
    CHECK(alone.kind == op::map);
    CHECK(alone.program == d.launches[0].program);
    CHECK(alone.arrays == 2);
    CHECK(alone.first_array + alone.arrays == alone.output);
    auto const trained = finished<image, true>(); // relu's derivative needs its value only
    CHECK(kinds(trained)[0] == op::conv);
    CHECK(kinds(trained)[1] == op::max_pool);

    using gelu = cn::sequential<input<6>, cn::dense<4>, cn::gelu_tanh, cn::dense<3>>;
    CHECK(kinds(finished<gelu>()) == steps{op::matmul, op::matmul});
    auto const kept = finished<gelu, true>(); // gelu's derivative needs what comes before it
    CHECK(kept.launches[0].end == cn::ir::epilogue{true});
    CHECK(kinds(kept)[1] == op::map);
}

TEST_CASE("the gradient of a dense layer's bias is a second result of the weight's gradient") {
    using network = cn::sequential<input<6>, cn::dense<4>, cn::tanh, cn::dense<3>>;
    using bare = cn::sequential<input<6>, cn::dense<4>.no_bias(), cn::tanh, cn::dense<3>.no_bias()>;
    auto const d = finished<network, true>();
    CHECK(count(d, op::matmul_weight) == 2);
    CHECK(count(d, op::reduce) == count(finished<bare, true>(), op::reduce)); // of the loss
    for (int i = 0; i < d.sizes.launches; ++i) {
        cn::ir::kernel_launch const& s = d.launches[i];
        if (s.kind != op::matmul_weight) {
            continue;
        }
        REQUIRE(s.end == cn::ir::epilogue{.bias_gradient = true});
        CHECK(s.arrays == 2);
        cn::ir::array_ref const& sums = d.arrays[s.output + 1];
        CHECK(sums.where == region::gradients);
        CHECK(sums.size == cn::ir::extents{false, 1, operand(d, i, 1).size.channels});
        // by itself a reduction of the second factor
        cn::ir::kernel_launch const alone = cn::ir::epilogue_launch(s);
        CHECK(alone.kind == op::reduce);
        CHECK(alone.output == s.output + 1);
        CHECK(alone.space == operand(d, i, 1).size);
        CHECK(d.arrays[alone.first_array].offset == operand(d, i, 1).offset);
        CHECK(alone.arrays == 1);
    }
}

TEST_CASE("a bias whose gradient is made of several sums keeps them as steps of their own") {
    auto const d = finished<two_inputs, true>(); // two layers share one bias
    int sums = 0;
    for (int i = 0; i < d.sizes.launches; ++i) {
        sums += d.launches[i].end.bias_gradient;
    }
    CHECK(sums == 1);
    CHECK(count(d, op::matmul_weight) == 3);
}

TEST_CASE("what a device cannot finish stays a step of its own") {
    // a function that it does not know behind the bias
    using other = cn::sequential<input<6>, cn::dense<4>, cn::tanh>;
    CHECK(kinds(finished<other>()) == steps{op::matmul, op::map});
    using wrong_product = cn::sequential<input<6>, cn::dense<4>, cn::relu>;
    CHECK(kinds(finished<wrong_product>()) == steps{op::matmul, op::map});
    // no bias, or not only a bias
    using bare = cn::sequential<input<1, 6, 6>, cn::conv2d<4, 3>.no_bias(), cn::relu>;
    CHECK(kinds(finished<bare>()) == steps{op::conv, op::map});
    using longer = cn::sequential<input<1, 6, 6>, cn::conv2d<4, 3>, cn::relu, cn::tanh>;
    CHECK(kinds(finished<longer>()) == steps{op::conv, op::map});
    using sum = cn::sequential<input<6>, cn::residual<cn::dense<6>.no_bias()>>;
    CHECK(kinds(finished<sum>()) == steps{op::matmul, op::map});
    // a product that others read, too
    using shared = cn::sequential<input<2, 6, 6>, cn::conv2d<4, 3>, cn::batch_norm, cn::relu>;
    auto const d = finished<shared, true>();
    CHECK(d.launches[0].end ==
          cn::ir::epilogue{true}); // the statistics and the result read the sum
}

namespace {

// Whether an element-wise launch makes an image of images in bfloat16.
bool makes_image_of_bf16(plan_view const& d, int i) {
    cn::ir::kernel_launch const& s = d.launches[i];
    cn::ir::extents const made = output(d, i).size;
    bool reads = false;
    for (int k = 0; k < s.arrays; ++k) {
        reads = reads || (operand(d, i, k).is_bf16 && operand(d, i, k).size == made);
    }
    return s.kind == op::map && reads && made.sample && !made.in_logical_order();
}
bool is_result(plan_view const& d, cn::ir::array_ref const& r) {
    for (int i = 0; i < d.sizes.outputs; ++i) {
        if (d.outputs[i].where == r.where && d.outputs[i].offset == r.offset) {
            return true;
        }
    }
    return false;
}

// Whether a product makes something for element-wise launches with results in bfloat16 alone.
bool makes_for_bf16(plan_view const& d, int i) {
    cn::ir::array_ref const& made = output(d, i);
    bool read = false;
    for (int k = i + 1; k < d.sizes.launches; ++k) {
        cn::ir::kernel_launch const& s = d.launches[k];
        for (int a = 0; a < s.arrays; ++a) {
            if (operand(d, k, a).where == made.where && operand(d, k, a).offset == made.offset) {
                read = true;
                if (s.kind != op::map || !output(d, k).is_bf16 || output(d, k).size != made.size) {
                    return false;
                }
            }
        }
        if (output(d, k).where == made.where && output(d, k).offset == made.offset) {
            break;
        }
    }
    return read && cn::ir::operation_of(d.launches[i].kind).is.product && made.size.sample;
}

// What is bfloat16 is what products read, what convolutions write, images made of such, and what
// products make for launches with such results.
void check_types(plan_view const& d) {
    REQUIRE(output(d, 0).is_bf16);
    CHECK(operand(d, 0).where == region::parameters);
    CHECK(operand(d, 0).size.count() == d.elements(region::parameters));
    for (int i = 1; i < d.sizes.launches; ++i) {
        CAPTURE(i);
        cn::ir::kernel_launch const& s = d.launches[i];
        bool const image = cn::ir::is_conv(s.kind);
        bool read = false; // by a product
        for (int k = i + 1; k < d.sizes.launches; ++k) {
            for (int a = 0; a < 2 && cn::ir::operation_of(d.launches[k].kind).is.product; ++a) {
                cn::ir::array_ref const& x = operand(d, k, a);
                read = read || (x.where == output(d, i).where && x.offset == output(d, i).offset);
            }
            if (output(d, k).where == output(d, i).where &&
                output(d, k).offset == output(d, i).offset) {
                break; // its memory is another's now
            }
        }
        bool const made = makes_image_of_bf16(d, i) && !is_result(d, output(d, i));
        CHECK(output(d, i).is_bf16 == (read || image || made || makes_for_bf16(d, i)));
        for (int a = 0; a < 2 && cn::ir::operation_of(s.kind).is.product; ++a) {
            CHECK(operand(d, i, a).is_bf16);
            CHECK(operand(d, i, a).where == region::workspace);
        }
        if (s.end.bias) { // the library wants it in the type of the result
            CHECK(operand(d, i, 3).is_bf16 == output(d, i).is_bf16);
        }
        if (s.program < 0) {
            continue;
        }
        int const first = s.first_array + (s.end.bias ? 2 : 0);
        for (int k = d.first_instruction[s.program]; k < d.first_instruction[s.program + 1]; ++k) {
            cn::ir::instruction const& x = d.instructions[k];
            if (x.code == cn::ir::opcode::load) {
                CHECK((x.c == 1) == d.arrays[first + x.a].is_bf16);
            } else if (x.code == cn::ir::opcode::store) {
                CHECK((x.a == 1) == output(d, i).is_bf16);
            }
        }
    }
    for (int i = 0; i < d.sizes.outputs; ++i) {
        CHECK_FALSE(d.outputs[i].is_bf16);
    }
}

template <class Network>
void check_types() {
    using training = cn::detail::step_recipe<planned::mse>;
    check_types(view_of<training, Network, true, 8, bf16_device>());
    check_types(view_of<cn::detail::prediction_recipe, Network, false, 8, bf16_device>());
}

} // namespace

TEST_CASE("products read bfloat16, and what leaves the step has the device's own type") {
    check_types<chain>();
    check_types<residual>();
    check_types<reshaped>();
    check_types<two_inputs>();
    check_types<branches>();
    check_types<pooled>();
}

TEST_CASE("bfloat16 halves what products read") {
    static constexpr auto conv = cn::conv2d<16, 3, cn::conv{.padding = 1}>;
    using network = cn::sequential<input<1, 16, 16>, conv, cn::relu, conv, cn::relu, conv, cn::relu,
                                   conv, cn::relu, cn::global_avg_pool2d, cn::dense<3>>;
    using recipe = cn::detail::step_recipe<planned::mse>;
    auto const wide = view_of<recipe, network, true, 64, finishing_device>();
    auto const in_bf16 = view_of<recipe, network, true, 64, bf16_device>();
    CHECK(double(in_bf16.elements(region::workspace)) <
          0.6 * double(wide.elements(region::workspace)));
    CHECK(in_bf16.elements(region::gradients) == wide.elements(region::gradients));
}

TEST_CASE("steps that treat every sample by itself are one stage, up to the first product") {
    using network = cn::sequential<input<1, 8, 8>, cn::conv2d<4, 3>, cn::relu, cn::max_pool2d<2>,
                                   cn::flatten, cn::dense<3>, cn::tanh>;
    auto const d = prediction_of<network>();
    REQUIRE(d.sizes.stages == 3);
    CHECK(d.stages[0].samples_at_once > 0);
    CHECK(kinds(d)[std::size_t(d.stages[1].first)] == op::matmul);
    CHECK(d.stages[1].samples_at_once == 0);
    CHECK(d.stages[2].samples_at_once == 0); // no image, nothing to gain
}

TEST_CASE("what reads a sum over samples waits for all of them") {
    using network = cn::sequential<input<2, 8, 8>, cn::conv2d<4, 3>, cn::batch_norm, cn::relu>;
    auto const d = training_of<network>();
    for (int g = 0; g < d.sizes.stages; ++g) {
        for (int i = d.stages[g].first; i < d.stages[g].last; ++i) {
            bool const sum = d.launches[i].kind == op::reduce && !output(d, i).size.sample;
            for (int k = i + 1; k < d.stages[g].last && sum; ++k) {
                for (int a = 0; a < d.launches[k].arrays; ++a) {
                    CHECK(operand(d, k, a).offset != output(d, i).offset);
                }
            }
        }
    }
    CHECK(count(d, op::reduce) >= 2);
}

TEST_CASE("the image before a pooling is kept for no backward pass") {
    using network = cn::sequential<input<1, 34, 34>, cn::conv2d<16, 3>, cn::relu, cn::max_pool2d<2>,
                                   cn::flatten, cn::dense<3>>;
    auto const d = view_of<cn::detail::step_recipe<planned::mse>, network, true, 64>();
    std::ptrdiff_t const image = 16 * 32 * 32, pooled = image / 4;
    // the pooled images, which pixels won, their gradients, and for 8 chunks an image or two
    CHECK(d.elements(region::workspace) < 64 * 4 * pooled + 8 * 3 * image);
    CHECK(d.elements(region::workspace) > 64 * 2 * pooled);
}

TEST_CASE("an element-wise chain is one step however long it is") {
    using network = cn::sequential<input<16>, cn::dense<8>, cn::tanh, cn::silu, cn::relu6,
                                   cn::softplus, cn::leaky_relu, cn::mish>;
    CHECK(kinds(prediction_of<network>()) == steps{op::matmul, op::map});
}

template <auto Norm>
void is_part_of_convolution() {
    using network = cn::sequential<input<2, 6, 6>, cn::conv2d<4, 3>, Norm, cn::relu, cn::flatten>;
    auto const d = prediction_of<network>();
    for (int i = 0; i < d.sizes.launches; ++i) {
        cn::ir::kernel_launch const& s = d.launches[i];
        CHECK((s.once || s.kind == op::conv || s.kind == op::reshape));
        CHECK((s.kind != op::conv || s.end.activates));
    }
}
TEST_CASE("in predictions batch_norm is part of the convolution before it") {
    is_part_of_convolution<cn::batch_norm>();
    is_part_of_convolution<cn::batch_norm.no_affine()>();
}

TEST_CASE("batch_norm in evaluation is one step with its activation") {
    using network =
        cn::sequential<input<2, 6, 6>, cn::max_pool2d<2>, cn::batch_norm, cn::relu, cn::flatten>;
    auto const d = prediction_of<network>();
    CHECK(count(d, op::map) == 2); // 1 / sqrt(variance + epsilon) once per channel
}

TEST_CASE("dropout keeps no mask") {
    using with = cn::sequential<input<16>, cn::dense<8>, cn::relu, cn::dropout<0.5F>, cn::dense<4>>;
    using without = cn::sequential<input<16>, cn::dense<8>, cn::relu, cn::dense<4>>;
    auto const a = training_of<with>(), b = training_of<without>();
    // relu's output and that of dropout; no mask
    CHECK(a.sizes.launches <= b.sizes.launches + 1);
    CHECK(a.elements(region::workspace) <= b.elements(region::workspace) + 8 * 8);
    CHECK(kinds(prediction_of<with>()) == kinds(prediction_of<without>()));
}

TEST_CASE("flatten and reshape of what lies in order are no steps") {
    using vector = cn::sequential<input<24>, cn::reshape<4, 6>, cn::dense<6>, cn::flatten>;
    CHECK(count(training_of<vector>(), op::reshape) == 0);
    using one_channel = cn::sequential<input<1, 4, 6>, cn::flatten, cn::dense<3>>;
    CHECK(count(training_of<one_channel>(), op::reshape) == 0);
    using read_by_dense =
        cn::sequential<input<2, 9, 9>, cn::conv2d<4, 3>, cn::relu, cn::flatten, cn::dense<3>>;
    CHECK(count(training_of<read_by_dense>(), op::reshape) == 0);
    using image = cn::sequential<input<2, 4, 6>, cn::flatten, cn::tanh, cn::dense<3>>;
    CHECK(count(training_of<image>(), op::reshape) == 1);
}

TEST_CASE("gradients and statistics are written where they belong") {
    auto const d = training_of<chain>();
    std::vector<int> gradients(std::size_t(d.sizes.parameters)), statistics = gradients;
    for (int s = 0; s < d.sizes.launches; ++s) {
        for (int p = 0; p < d.sizes.parameters; ++p) {
            bool const here = output(d, s).offset == d.parameters[p].offset;
            gradients[std::size_t(p)] += here && output(d, s).where == region::gradients;
            statistics[std::size_t(p)] += here && output(d, s).where == region::parameters;
        }
    }
    for (int p = 0; p < d.sizes.parameters; ++p) {
        CAPTURE(p);
        CHECK(gradients[std::size_t(p)] == (d.parameters[p].trainable ? 1 : 0));
        CHECK(statistics[std::size_t(p)] == (d.parameters[p].kind == cn::role::statistic ? 1 : 0));
    }
}

TEST_CASE("the gradient with respect to the input is not computed") {
    using network = cn::sequential<input<1, 8, 8>, cn::conv2d<4, 3>, cn::relu, cn::conv2d<4, 3>,
                                   cn::flatten, cn::dense<3>>;
    auto const d = training_of<network>();
    CHECK(count(d, op::conv_weight) == 2);
    CHECK(count(d, op::conv_data) == 1);
    CHECK(count(d, op::matmul_data) == 1);
}

TEST_CASE("equal chains share one program") {
    using network = cn::sequential<input<8>, cn::dense<8>, cn::tanh, cn::dense<8>, cn::tanh,
                                   cn::dense<8>, cn::tanh, cn::dense<4>, cn::elu>;
    auto const d = prediction_of<network>();
    CHECK(count(d, op::map) == 4);
    CHECK(d.sizes.programs == 2); // bias and tanh; bias and elu
    CHECK(operand(d, 1).offset == output(d, 0).offset);
}

TEST_CASE("floating-point operations of a product and a convolution") {
    using vector = cn::sequential<input<16>, cn::dense<8>.no_bias()>;
    CHECK(prediction_of<vector>().launches[0].flops == 2 * 16 * 8);
    using image = cn::sequential<input<3, 6, 6>, cn::conv2d<4, 3>.no_bias()>;
    CHECK(prediction_of<image>().launches[0].flops == 2 * 4 * 4 * 4 * 3 * 9);
}

TEST_CASE("trainable parameters lie before all others, each aligned") {
    using network = cn::sequential<input<5>, cn::dense<3>, cn::batch_norm, cn::frozen<cn::dense<3>>,
                                   cn::dense<7>>;
    auto const d = training_of<network>();
    for (int i = 0; i < d.sizes.parameters; ++i) {
        auto const& p = d.parameters[i];
        CAPTURE(p.name.text());
        CHECK((p.offset < d.trainable) == p.trainable);
        CHECK(p.offset % cn::ir::cpu_alignment == 0);
    }
}

TEST_CASE("what nothing depends on is named") {
    constexpr auto first = steps_of<cn::network<forgets{}, input<3>, input<4>>, false>();
    CHECK(first.unused_input == 1);
    CHECK(first.unused_parameter == -1);
    constexpr auto second = steps_of<cn::network<detour{}, input<3>>, true>();
    CHECK(second.unused_input == -1);
    CHECK(second.unused_parameter == 0);
}

namespace {

// The launches of this kind with so many results.
int count_with(plan_view const& d, op kind, int results) {
    int n = 0;
    for (int i = 0; i < d.sizes.launches; ++i) {
        n += d.launches[i].kind == kind && d.launches[i].results == results;
    }
    return n;
}

using planned_loss = cn::detail::step_recipe<planned::mse>;

} // namespace

TEST_CASE("batch normalisation is three launches forward and two backward where launches join") {
    using network =
        cn::sequential<input<2, 6, 6>, cn::conv2d<8, 3, cn::conv{.padding = 1}>.no_bias(),
                       cn::batch_norm, cn::relu, cn::conv2d<4, 3>, cn::flatten>;
    auto const d = view_of<planned_loss, network, true, 8, joining_device>();
    // the statistics; the sums of its backward pass; each sample's loss and their sum
    CHECK(count_with(d, op::reduce, 2) == 3);
    // mean and variance, both running statistics and the deviation
    CHECK(count_with(d, op::map, 5) == 1);
    CHECK(count_with(d, op::convert, 2) == 2); // parameters and input; both weights' gradients
    CHECK(d.launches[0].kind == op::convert);
    CHECK(count(d, op::conv_weight) == 2);
    // Nothing stores the gradient behind relu: the sums and the normalisation's gradient compute it
    // of the gradient before it and of the normalisation's input.
    bool found = false;
    for (int i = 0; i < d.sizes.launches; ++i) {
        cn::ir::kernel_launch const& s = d.launches[i];
        int images = 0;
        bool differentiates = false;
        for (int k = 0; k < s.arrays; ++k) {
            images +=
                operand(d, i, k).size == cn::ir::extents{true, 36, 8, output(d, 1).size.order};
        }
        for (int k = s.program < 0 ? 0 : d.first_instruction[s.program];
             s.program >= 0 && k < d.first_instruction[s.program + 1]; ++k) {
            differentiates = differentiates || (d.instructions[k].function == cn::fn::relu &&
                                                d.instructions[k].derivative == 0);
        }
        if (differentiates) {
            found = true;
            CHECK(images == 2);
            CHECK((s.kind == op::reduce || output(d, i).size.pixels == 36));
        }
    }
    CHECK(found);
}

TEST_CASE("launches that wait for one another do not join") {
    // those of the second normalisation read what the first makes
    using network = cn::sequential<input<2, 6, 6>, cn::conv2d<4, 3>.no_bias(), cn::batch_norm,
                                   cn::flatten, cn::dense<4>, cn::batch_norm>;
    auto const d = view_of<planned_loss, network, true, 8, joining_device>();
    CHECK(count_with(d, op::reduce, 2) == 4);
    CHECK(count_with(d, op::map, 5) == 2);
}

TEST_CASE("where launches join, an array is summed by the launch that stores it") {
    using network = cn::sequential<input<2, 6, 6>, cn::conv2d<8, 3>, cn::relu, cn::conv2d<4, 3>,
                                   cn::max_pool2d<2>, cn::flatten>;
    auto const d = view_of<planned_loss, network, true, 8, joining_device>();
    int found = 0;
    for (int i = 0; i < d.sizes.launches; ++i) {
        cn::ir::kernel_launch const& s = d.launches[i];
        if (s.kind == op::reduce && output(d, i).size == output(d, 1).size && s.results == 2) {
            ++found; // the gradient behind relu, and that of the bias before it
            CHECK(output(d, i).size.channels == 8);
            CHECK(output(d, i).is_bf16);
            cn::ir::array_ref const& sum = d.arrays[s.output + 1];
            CHECK(sum.where == cn::ir::region::gradients);
            CHECK(sum.size == cn::ir::extents{false, 1, 8});
        }
    }
    CHECK(found == 1);
}

TEST_CASE("where launches join, few units are multiplied by whoever reads their gradient") {
    using few = cn::sequential<input<9>, cn::dense<6>, cn::relu, cn::dense<4>>;
    using many = cn::sequential<input<9>, cn::dense<6>, cn::relu, cn::dense<17>>;
    using square = cn::sequential<input<9>, cn::dense<6>, cn::relu, cn::dense<6>>;
    CHECK(count(view_of<planned_loss, few, true, 8, joining_device>(), op::matmul_data) == 0);
    CHECK(count(view_of<planned_loss, many, true, 8, joining_device>(), op::matmul_data) == 1);
    CHECK(count(view_of<planned_loss, square, true, 8, joining_device>(), op::matmul_data) == 1);
}

TEST_CASE("where launches join, the gradient of max pooling is stored where it is computed") {
    using tiled =
        cn::sequential<input<1, 9, 9>, cn::conv2d<4, 2>, cn::relu, cn::max_pool2d<2>, cn::flatten>;
    using overlapping = cn::sequential<input<1, 9, 9>, cn::conv2d<4, 2>, cn::relu,
                                       cn::max_pool2d<3, cn::pooling{.stride = 2}>, cn::flatten>;
    CHECK(count(view_of<planned_loss, tiled, true, 8, joining_device>(), op::max_pool_gradient) ==
          0);
    CHECK(count(view_of<planned_loss, overlapping, true, 8, joining_device>(),
                op::max_pool_gradient) == 1);
}

TEST_CASE("where launches join, those of the same rows are one") {
    SUBCASE("layer normalisation") {
        using network = cn::sequential<input<6, 8>, cn::layer_norm>;
        auto const d = view_of<cn::detail::prediction_recipe, network, false, 8, joining_device>();
        CHECK(kinds(d) == steps{op::reduce});
        CHECK(d.launches[0].results == 4); // mean, variance, deviation, and the result
    }
    SUBCASE("a sum that is stored, and its normalisation") {
        constexpr auto layers = cn::residual<cn::layer_norm, cn::dense<8>>;
        using network = cn::sequential<input<6, 8>, layers, layers>;
        auto const d = view_of<cn::detail::prediction_recipe, network, false, 8, joining_device>();
        CHECK(kinds(d) ==
              steps{op::convert, op::reduce, op::matmul, op::reduce, op::matmul, op::map});
        CHECK(d.launches[3].results == 5); // the sum besides
        CHECK(d.launches[3].phases == 3);
    }
    SUBCASE("the gradient of dropout, after that of a normalisation") {
        using network =
            cn::sequential<input<6, 8>, cn::dense<8>, cn::residual<cn::dense<8>, cn::dropout<0.5F>>,
                           cn::layer_norm>;
        auto const d = view_of<planned_loss, network, true, 8, joining_device>();
        CHECK(count(d, op::map) == 1); // the gradient of the loss
    }
    SUBCASE("cross-entropy, its gradient and its sum over the samples") {
        using loss = cn::detail::step_recipe<cn::cross_entropy_loss<0.0F>,
                                             std::remove_cvref_t<decltype(cn::accuracy)>>;
        using network = cn::sequential<input<9>, cn::dense<4>>;
        auto const d = view_of<loss, network, true, 8, joining_device>();
        CHECK(kinds(d) == steps{op::convert, op::matmul, op::reduce, op::matmul_weight});
    }
}
