// Optimizers whose steps depend on whole parameters, LAMB and Muon: against PyTorch, or its words
// for the paper's, in double; and with all that is made of optimizers.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/train/averaged_weights.hpp>

#include "../golden.hpp"
#include "../parameters.hpp"
#include "exact_set.hpp"
#include "policy.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;
using check::values;

namespace {

using where = check::policy;

// sum(output * target), whose gradient with respect to the output is the target.
struct product_loss {
    static constexpr bool labels = false;
    static constexpr char const* name = "product";
    constexpr auto operator()(auto output, auto target) const { return cn::sum(output * target); }
};

// Six steps of three samples each, with a dense layer.
template <std::size_t Features, int Units, class Optimizer>
void takes_the_steps_of(std::string const& name, Optimizer const& optimizer) {
    static check::golden_file const file{"optimizers"};
    using network = cn::sequential<cn::input<Features>, cn::dense<Units>>;
    cn::model<network, where, cn::batch<3>> model;
    model.set("0.weight", file[name + "/weight0"]);
    model.set("0.bias", file[name + "/bias0"]);
    check::exact_set<cn::shape<std::size_t(Units)>, cn::shape<Features>> const data{
        {file[name + "/inputs"]}, file[name + "/targets"], values(18, 1)};
    auto training = cn::compile(model, product_loss{}, optimizer);
    values weights, biases;
    for (std::size_t step = 0; step < 6; ++step) {
        training.step(data, std::vector{3 * step, 3 * step + 1, 3 * step + 2});
        auto const w = model.get("0.weight"), b = model.get("0.bias");
        weights.insert(weights.end(), w.begin(), w.end());
        biases.insert(biases.end(), b.begin(), b.end());
    }
    check::close(name, weights, file[name + "/weights"], 1e-12);
    check::close(name, biases, file[name + "/biases"], 1e-12);
}

// The same of Keras's (4, 6) kernel: sample i is 1 at feature i and 0 elsewhere, so its target is
// row i of the gradient.
template <class Optimizer>
void takes_the_steps_of_keras(std::string const& name, Optimizer const& optimizer) {
    static check::golden_file const file{"keras"};
    auto const of = [&](char const* what) { return file["optimizers/" + name + what]; };
    cn::model<cn::sequential<cn::input<4>, cn::dense<6>>, where, cn::batch<4>> model;
    auto const turned = [](values const& kernel) {
        values weight(24);
        for (std::size_t i = 0; i < 24; ++i) {
            weight[i % 6 * 4 + i / 6] = kernel[i];
        }
        return weight;
    };
    model.set("0.weight", turned(of("/kernel0")));
    model.set("0.bias", of("/bias0"));
    values targets = of("/gradients"), inputs;
    for (std::size_t i = 0; i < 96; ++i) {
        inputs.push_back(i / 4 % 4 == i % 4 ? 1 : 0);
    }
    for (double& x : targets) {
        x *= 4; // the loss is a mean
    }
    check::exact_set<cn::shape<6>, cn::shape<4>> const data{{inputs}, targets, values(24, 1)};
    auto training = cn::compile(model, product_loss{}, optimizer);
    values const kernels = of("/kernels"), biases = of("/biases");
    for (std::size_t step = 0; step < 6; ++step) {
        training.step(data, std::vector{4 * step, 4 * step + 1, 4 * step + 2, 4 * step + 3});
        auto const at = [&](values const& all, std::size_t count) {
            auto const first = all.begin() + std::ptrdiff_t(step * count);
            return values(first, first + std::ptrdiff_t(count));
        };
        auto const weight = model.get("0.weight"), bias = model.get("0.bias");
        check::close(name, {weight.begin(), weight.end()}, turned(at(kernels, 24)), 1e-9);
        check::close(name, {bias.begin(), bias.end()}, at(biases, 6), 1e-9);
    }
}

using network = cn::sequential<cn::input<3>, cn::dense<8>.l2(1e-3F), cn::tanh, cn::dense<3>>;

template <class Model, class Optimizer>
values trained(Optimizer const& optimizer) {
    Model model{cn::seed{3}};
    auto training = cn::compile(model, cn::cross_entropy, optimizer);
    training.fit(cn::data::blobs<3, 3>(40, 1), {.epochs = 2, .verbose = cn::verbosity::silent});
    CHECK(training.allocated_bytes() == training.bytes);
    return check::everything(model);
}
using one = cn::model<network, where, cn::batch<12>>;

} // namespace

TEST_CASE("LAMB takes the steps of its paper") {
    takes_the_steps_of<4, 6>("lamb", cn::lamb{.learning_rate = 0.01});
}

TEST_CASE("Muon takes the steps of PyTorch's Muon and AdamW") {
    takes_the_steps_of<4, 6>("muon", cn::muon{.learning_rate = 0.02, .adamw_rate = 0.5});
    takes_the_steps_of<6, 4>("muon_wide", cn::muon{.learning_rate = 0.02,
                                                   .momentum = 0.9,
                                                   .weight_decay = 0,
                                                   .nesterov = false,
                                                   .steps = 3,
                                                   .rate_of_adamw = true,
                                                   .beta_1 = 0.8,
                                                   .beta_2 = 0.99,
                                                   .adamw_epsilon = 1e-6});
}

TEST_CASE("LAMB and Muon take the steps of Keras's") {
    takes_the_steps_of_keras("lamb", cn::lamb{.epsilon = 0, .weight_decay = 0});
    takes_the_steps_of_keras(
        "muon", cn::muon{.weight_decay = 4e-3, .rate_of_adamw = true, .adamw_epsilon = 0});
}

TEST_CASE("the filters of a convolution are the rows of a matrix") {
    using convolution = cn::sequential<cn::input<2, 3, 3>, cn::conv2d<4, 3>, cn::flatten>;
    using dense = cn::sequential<cn::input<2, 3, 3>, cn::flatten, cn::dense<4>>;
    cn::model<convolution, where, cn::batch<6>> a{cn::seed{1}};
    cn::model<dense, where, cn::batch<6>> b;
    b.set("1.weight", a.get("0.weight"));
    std::vector<float> pixels(std::size_t{6} * 18);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        pixels[i] = float(i * 37 % 101) / 64 - 1;
    }
    cn::data::dataset<cn::data::label<4>, cn::shape<2, 3, 3>> const images{
        pixels, std::vector<int>{0, 1, 2, 3, 2, 1}};
    auto first = cn::compile(a, cn::cross_entropy, cn::muon{});
    auto second = cn::compile(b, cn::cross_entropy, cn::muon{});
    for (int i = 0; i < 3; ++i) {
        first.step(images);
        second.step(images);
    }
    CHECK(check::largest_difference(a.get("0.weight"), b.get("1.weight")) < 1e-12);
}

TEST_CASE("a whole parameter moves in what is made of its optimizer, and in all replicas") {
    auto const expected = trained<one>(cn::lamb{});
    using by_two = cn::model<network, cn::policy::logical<where, 2>, cn::batch<6>>;
    CHECK(check::largest_difference(trained<by_two>(cn::lamb{}), expected) < 1e-12);
    using in_two = cn::model<network, where, cn::batch<6>>;
    CHECK(check::largest_difference(trained<in_two>(cn::accumulate<2>(cn::lamb{})), expected) <
          1e-12);
    CHECK(trained<one>(cn::clip_value(cn::lamb{}, 1e9)) == expected);
    auto const wrapped =
        cn::groups(cn::ema(cn::clip_norm(cn::lamb{}, 1e9)), cn::parameter_group{.names = "*.bias"});
    CHECK(check::largest_difference(trained<one>(wrapped), expected) < 1e-12);
}

TEST_CASE("a step's loss is that before its update, whatever that needs of the memory") {
    using wide = cn::sequential<cn::input<3>, cn::dense<64>, cn::tanh, cn::dense<96>, cn::dense<3>>;
    auto const data = cn::data::blobs<3, 3>(2, 1);
    auto const stepped = [&]<class Policy>(Policy, auto const& optimizer) {
        cn::model<wide, Policy, cn::batch<2>> model{cn::seed{3}};
        auto training = cn::compile(model, cn::cross_entropy, optimizer, cn::accuracy);
        auto const before = training.evaluate(data);
        auto const step = training.step(data);
        CHECK(step.loss() == doctest::Approx(before.loss()).epsilon(1e-12));
        CHECK(step["accuracy"] == before["accuracy"]);
        return check::everything(model);
    };
    using host = cn::policy::basic_cpu<double>;
    CHECK(check::largest_difference(stepped(where{}, cn::lamb{}), stepped(host{}, cn::lamb{})) <
          1e-12);
    CHECK(check::largest_difference(stepped(where{}, cn::muon{}), stepped(host{}, cn::muon{})) <
          1e-12);
}

TEST_CASE("without orthogonal weights Muon is AdamW, in a group or everywhere") {
    auto const expected = trained<one>(cn::adamw{.weight_decay = 0.1});
    cn::muon muon{};
    CHECK(
        check::largest_difference(
            trained<one>(cn::groups(muon, cn::parameter_group{.names = "*", .orthogonal = false})),
            expected) < 1e-12);
    CHECK(check::largest_difference(trained<one>(muon), expected) > 1e-3);
}

TEST_CASE("the groups of an optimizer have the memory that it needs") {
    using wide = cn::sequential<cn::input<3>, cn::dense<64>, cn::dense<3>>;
    cn::model<wide, where, cn::batch<2>> model{cn::seed{3}};
    auto all = cn::compile(model, cn::cross_entropy, cn::muon{});
    auto groups = cn::compile(
        model, cn::cross_entropy,
        cn::groups(cn::muon{}, cn::parameter_group{.names = "1.*", .orthogonal = false}));
    CHECK(groups.workspace_bytes == all.workspace_bytes);
}

TEST_CASE("the gradient of each parameter is clipped by its own norm") {
    constexpr double most = 0.3;
    cn::momentum const plain{.learning_rate = 0.1};
    one model{cn::seed{3}}, wrapped{cn::seed{3}};
    auto training = cn::compile(model, cn::cross_entropy, cn::clip_each_norm(plain, most));
    auto averaged =
        cn::compile(wrapped, cn::cross_entropy, cn::ema(cn::clip_each_norm(plain, most)));
    auto const data = cn::data::blobs<3, 3>(12, 1);
    int clipped = 0;
    for (std::string const name : {"0.weight", "0.bias", "2.weight", "2.bias"}) {
        one other{cn::seed{3}};
        auto single = cn::compile(other, cn::cross_entropy, plain);
        auto const before = other.get(name);
        single.step(data);
        auto const gradient = single.gradient(name); // without the penalty of 0.weight
        double squares = 0;
        values step;
        for (std::size_t i = 0; i < before.size(); ++i) {
            step.push_back(gradient[i] + (name == "0.weight" ? 2e-3F * before[i] : 0));
            squares += step.back() * step.back();
        }
        double const factor = std::min(1.0, most / std::sqrt(squares));
        clipped += factor < 1;
        if (name == "0.weight") {
            training.step(data);
            averaged.step(data);
        }
        auto const after = model.get(name);
        for (std::size_t i = 0; i < before.size(); ++i) {
            CHECK(after[i] == doctest::Approx(before[i] - 0.1 * factor * step[i]).epsilon(1e-7));
        }
        CHECK(wrapped.get(name) == after);
    }
    CHECK(clipped > 0);
    CHECK(clipped < 4);
    CHECK(std::string{decltype(cn::clip_each_norm(plain, 1))::name} == "clip_each_norm(momentum)");
}

TEST_CASE("what is frozen stays, and averages are those of the moved parameters") {
    one model{cn::seed{3}};
    auto training = cn::compile(model, cn::cross_entropy, cn::ema(cn::lamb{}, 0.5));
    auto const data = cn::data::blobs<3, 3>(12, 1);
    auto const before = model.get("0.weight");
    training.freeze("0.*");
    training.step(data);
    auto const first = model.get("2.bias");
    training.step(data);
    auto const second = model.get("2.bias");
    CHECK(model.get("0.weight") == before);
    cn::averaged_weights const now{training};
    auto const average = model.get("2.bias");
    for (std::size_t i = 0; i < average.size(); ++i) {
        CHECK(average[i] == doctest::Approx((first[i] + second[i]) / 2).epsilon(1e-12));
    }
}
