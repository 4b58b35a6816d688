// Frozen layers: no change, no gradient, no memory and no work for them.
#include <castnet/castnet.hpp>

#include "../parameters.hpp"

#include <doctest/doctest.h>
#include <string>

namespace cn = castnet;
using cn::op, cn::ir::region;

namespace {

constexpr auto features = cn::block<cn::conv2d<6, 3>, cn::batch_norm, cn::relu, cn::conv2d<4, 3>>;
using start = cn::sequential<cn::input<2, 7, 7>, cn::frozen<features>, cn::flatten, cn::dense<3>>;
using middle = cn::sequential<cn::input<8>, cn::dense<5>, cn::frozen<cn::dense<4>>, cn::dense<3>>;
using policy = cn::policy::basic_cpu<double>;

template <class Network>
using model_of = cn::model<Network, policy, cn::batch<8>>;
template <class Network>
using training_of = cn::training<model_of<Network>, cn::cross_entropy_loss<0.0F>, cn::adam>;

// A critic of x, and of what a generator makes of y, where it is frozen.
template <bool FrozenFirst, bool Copied>
struct adversaries {
    static constexpr auto layers = cn::block<cn::dense<5>, cn::tanh, cn::dense<1>>;
    static constexpr auto critic = cn::shared<"critic", layers>;

    static constexpr auto of_made(auto y) {
        auto const made = y | cn::named<"generator", cn::dense<3>>;
        if constexpr (Copied) {
            return cn::frozen<cn::shared<"copy", layers>>(made);
        } else {
            return cn::frozen<critic>(made);
        }
    }
    constexpr auto operator()(auto x, auto y) const {
        if constexpr (FrozenFirst) {
            auto const made = of_made(y);
            return cn::outputs(critic(x), made);
        } else {
            auto const real = critic(x);
            return cn::outputs(real, of_made(y));
        }
    }
};
using critic_first = cn::network<adversaries<false, false>{}, cn::input<3>, cn::input<3>>;
using critic_last = cn::network<adversaries<true, false>{}, cn::input<3>, cn::input<3>>;
struct both_losses {
    using targets = cn::data::targets<>;
    constexpr auto operator()(auto real, auto made) const {
        return cn::sum(cn::square(real - 1)) + cn::sum(cn::square(made));
    }
};

template <class Plan>
constexpr int steps_of(Plan const& plan, op kind) {
    int count = 0;
    for (cn::ir::kernel_launch const& s : plan.launches) {
        count += s.kind == kind;
    }
    return count;
}

auto images(std::size_t count) {
    std::vector<float> x(count * 98);
    std::vector<int> y(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * 37 % 101) / 50 - 1;
    }
    for (std::size_t i = 0; i < count; ++i) {
        y[i] = int(i % 3);
    }
    return cn::data::dataset<cn::data::label<3>, cn::shape<2, 7, 7>>{std::move(x), y};
}

} // namespace

TEST_CASE("frozen parameters and statistics keep their values") {
    auto const data = images(8);
    model_of<start> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.weight_decay = 0.1});
    model.set("0.1.running_mean", std::vector{0.1, 0.2, 0.3, 0.4, 0.5, 0.6});
    std::vector<std::vector<double>> before;
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        before.push_back(model.get(model.parameter_at(i).name.text()));
    }
    training.fit(data, {.epochs = 3, .verbose = cn::verbosity::silent});
    int trained = 0;
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        auto const name = model.parameter_at(i).name.text();
        CAPTURE(name);
        bool const of_head = name.starts_with("2.");
        trained += of_head;
        CHECK((model.get(name) == before[i]) != of_head);
        CHECK(training.gradient(name).empty() != of_head);
    }
    CHECK(trained == 2);
}

TEST_CASE("a frozen batch_norm uses its running statistics in training too") {
    auto const data = images(8);
    model_of<start> model{cn::seed{1}};
    model.set("0.1.running_mean", std::vector{0.1, 0.2, 0.3, 0.4, 0.5, 0.6});
    model.set("0.1.running_var", std::vector{2.0, 1.0, 0.5, 0.1, 1.0, 3.0});
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    double const evaluated = training.evaluate(data).loss();
    std::size_t const all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    CHECK(training.step(data, all, 0.0).loss() == doctest::Approx(evaluated).epsilon(1e-13));
}

TEST_CASE("frozen dropout and noise do nothing in training either") {
    constexpr auto noisy =
        cn::block<cn::spatial_dropout<0.4>, cn::lstm<5>.recurrent_dropout(0.4).return_sequences(),
                  cn::multi_head_attention<1>.dropout(0.4), cn::gaussian_noise<0.4>,
                  cn::dropout<0.4>, cn::residual<cn::dense<5>, cn::stochastic_depth<0.4>>>;
    using network = cn::sequential<cn::input<7, 14>, cn::frozen<noisy>, cn::flatten, cn::dense<3>>;
    auto const x = cn::random_normal<float, cn::shape<8, 7, 14>>(1);
    auto const y = cn::tensor<int, cn::shape<8>>{0, 1, 2, 0, 1, 2, 0, 1};
    auto const data = cn::data::of_tensors<cn::data::label<3>>(x, y);
    model_of<network> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    double const evaluated = training.evaluate(data).loss();
    std::size_t const all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    CHECK(training.step(data, all, 0.0).loss() == doctest::Approx(evaluated).epsilon(1e-13));
}

TEST_CASE_TEMPLATE("a shared layer that is frozen in one place learns by the others", network,
                   critic_first, critic_last) {
    using separate = cn::network<adversaries<true, true>{}, cn::input<3>, cn::input<3>>;
    auto const x = cn::random_normal<double, cn::shape<8, 3>>(1);
    auto const y = cn::random_normal<double, cn::shape<8, 3>>(2);
    auto const data = cn::data::of_tensors<cn::data::targets<>>(x, y);
    model_of<network> model{cn::seed{1}};
    model_of<separate> expected{cn::seed{1}};
    cn::copy_parameters(model, expected,
                        cn::partial{.rename = cn::replace_prefix{"copy", "critic"}});
    CHECK(model.predict(data) == expected.predict(data));
    auto training = cn::compile(model, both_losses{}, cn::sgd{});
    auto of_two = cn::compile(expected, both_losses{}, cn::sgd{});
    auto const [loss] = training.step(data);
    auto const [loss_of_two] = of_two.step(data);
    CHECK(loss == doctest::Approx(loss_of_two).epsilon(1e-13));
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        auto const name = model.parameter_at(i).name.text();
        CAPTURE(name);
        CHECK(check::largest_difference(model.get(name), expected.get(name)) < 1e-13);
        CHECK(check::largest_difference(training.gradient(name), of_two.gradient(name)) < 1e-13);
    }
    CHECK(model.parameter_tensors() == expected.parameter_tensors() - 4);
}

TEST_CASE("there is no gradient, no optimizer state and no backward step for them") {
    constexpr auto const& plan = training_of<start>::training_plan();
    static_assert(plan.trainable == cn::ir::aligned(3 * 36) + cn::ir::aligned(3));
    static_assert(plan.elements(region::gradients) == plan.trainable);
    static_assert(training_of<start>::optimizer_bytes == 2 * 8 * plan.trainable);
    static_assert(steps_of(plan, op::conv) == 2);
    static_assert(steps_of(plan, op::conv_weight) == 0);
    static_assert(steps_of(plan, op::conv_data) == 0);
    static_assert(steps_of(plan, op::matmul_weight) == 1);
    static_assert(steps_of(plan, op::matmul_data) == 0);
    CHECK(plan.elements(region::parameters) > plan.trainable);
}

TEST_CASE("gradients pass through a frozen layer to those before it") {
    constexpr auto const& plan = training_of<middle>::training_plan();
    static_assert(steps_of(plan, op::matmul_weight) == 2);
    static_assert(steps_of(plan, op::matmul_data) == 2);
    auto const data = cn::data::blobs<3, 8>(8, 1);
    model_of<middle> model{cn::seed{1}};
    auto const frozen = model.get("1.weight"), first = model.get("0.weight");
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    std::size_t const all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    training.step(data, all);
    CHECK(model.get("1.weight") == frozen);
    CHECK(model.get("0.weight") != first);
}

TEST_CASE("activations in front of a frozen part are not kept") {
    using trained = cn::sequential<cn::input<2, 7, 7>, features, cn::flatten, cn::dense<3>>;
    static_assert(training_of<start>::workspace_bytes < training_of<trained>::workspace_bytes);
    CHECK(training_of<start>::bytes < training_of<trained>::bytes);
}
