// Statistics of a program's own layers in training: when they move on, on every policy, and in
// files.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/policy/model_parallel.hpp>

#include "../parameters.hpp"
#include "../temporary_path.hpp"
#include "policy.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace cn = castnet;

namespace {

using check::policy;
using real = policy::value_type;

// By the running mean and the number of samples of all batches, which it counts, too.
struct normalizing_layer {
    template <std::size_t N>
    constexpr auto operator()(cn::symbol<cn::shape<N>> x) const {
        cn::ir::graph& g = *x.g;
        cn::scope_guard const scope{g, cn::layer_kind{"normalizing"}};
        auto const samples = cn::new_statistic<cn::shape<>>(g, "samples", cn::ones);
        auto const batches = cn::new_statistic<cn::shape<>>(g, "batches");
        auto mean = cn::new_statistic<cn::shape<N>>(g, "mean");
        cn::update(batches, batches + 1);
        if (g.trains()) {
            auto const here = cn::batch_sum(0 * cn::sum(x) + 1);
            mean = cn::update(mean, cn::lerp(mean, cn::batch_mean(x), here / (samples + here)));
            cn::update(samples, samples + here);
        }
        return x - mean;
    }
};
constexpr normalizing_layer normalizing{};

using network = cn::sequential<cn::input<2>, normalizing, cn::spectral_norm<cn::dense<8>>, cn::tanh,
                               normalizing, cn::dense<3>>;

using partly_frozen =
    cn::sequential<cn::input<2>, cn::frozen<normalizing, cn::spectral_norm<cn::dense<8>>>, cn::tanh,
                   cn::dense<3>>;
using on_two =
    cn::sequential<cn::input<2>, normalizing,
                   cn::on<1, cn::spectral_norm<cn::dense<8>>, cn::tanh, normalizing>, cn::dense<3>>;
using apart = cn::policy::logical<policy, 2, cn::strategy::local_batch_norm>;

auto samples() {
    return cn::data::blobs<3, 2>(64, 1);
}
std::vector<std::size_t> first(std::size_t count) {
    std::vector<std::size_t> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
        numbers[i] = i;
    }
    return numbers;
}

template <class Where, std::size_t Batch>
auto after_steps(std::size_t count) {
    cn::model<network, Where, cn::batch<Batch>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.05});
    for (int i = 0; i < 4; ++i) {
        training.step(samples(), first(count));
    }
    return check::everything(model);
}

template <class Network, class Where>
auto after_steps_of() {
    cn::model<Network, Where, cn::batch<16>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    for (int i = 0; i < 3; ++i) {
        training.step(samples(), first(16));
    }
    return check::everything(model);
}

} // namespace

TEST_CASE("statistics move on in training steps alone") {
    cn::model<network, policy, cn::batch<16>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    training.fit(samples(),
                 {.epochs = 2, .validation = samples(), .verbose = cn::verbosity::silent});
    CHECK(model.get("0.batches") == std::vector<real>{8});
    CHECK(model.get("0.samples") == std::vector<real>{129});
    auto const before = check::everything(model);
    training.evaluate(samples());
    model.predict(samples());
    CHECK(check::everything(model) == before);
    // the mean of 0 and of all samples twice, each at its time
    std::vector<double> sum(2);
    for (std::size_t i = 0; i < 64; ++i) {
        double x[2];
        samples().copy_input<0>(i, x);
        sum[0] += 2 * x[0], sum[1] += 2 * x[1];
    }
    CHECK(double(model.get("0.mean")[0]) == doctest::Approx(sum[0] / 129).epsilon(1e-4));
    CHECK(double(model.get("0.mean")[1]) == doctest::Approx(sum[1] / 129).epsilon(1e-4));
    CHECK(network::parameter_count == 2 * 8 + 8 + 8 * 3 + 3);
    std::string const table = cn::summary(model);
    CHECK(table.find("Non-trainable params: 24") != std::string::npos);
}

TEST_CASE("frozen layers keep them") {
    cn::model<partly_frozen, policy, cn::batch<16>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto const u = model.get("1.u");
    training.fit(samples(), {.verbose = cn::verbosity::silent});
    CHECK(model.get("0.batches") == std::vector<real>{0});
    CHECK(model.get("1.u") == u);
}

TEST_CASE("replicas make the same of them as one with the whole batch") {
    for (std::size_t const count : {std::size_t{32}, std::size_t{29}, std::size_t{2}}) {
        CAPTURE(count);
        auto const alone = after_steps<policy, 32>(count);
        CHECK(check::largest_difference(after_steps<cn::policy::logical<policy, 4>, 8>(count),
                                        alone) < 1e-9);
    }
}

TEST_CASE("each batch of an accumulated step moves them on") {
    cn::model<network, policy, cn::batch<8>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::accumulate<2>(cn::sgd{}));
    training.step(samples(), first(16));
    CHECK(model.get("0.batches") == std::vector<real>{2});
    CHECK(model.get("0.samples") == std::vector<real>{17});
}

TEST_CASE("they are in files and checkpoints") {
    check::temporary_path const file{"statistics.safetensors"}, checkpoint{"statistics.checkpoint"};
    cn::model<network, policy, cn::batch<16>> model{cn::seed{1}}, other{cn::seed{2}},
        third{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    training.step(samples(), first(16));
    cn::save(model, file.name);
    cn::load(other, file.name);
    CHECK(check::everything(other) == check::everything(model));
    cn::save(training, checkpoint.name);
    auto resumed = cn::compile(third, cn::cross_entropy, cn::adam{});
    cn::load(resumed, checkpoint.name);
    training.step(samples(), first(16));
    resumed.step(samples(), first(16));
    CHECK(check::everything(third) == check::everything(model));
}

TEST_CASE("averages of weights leave them alone") {
    cn::model<network, policy, cn::batch<16>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::ema(cn::sgd{}));
    training.step(samples(), first(16));
    training.step(samples(), first(16));
    auto const u = model.get("1.u");
    {
        cn::averaged_weights const now{training};
        CHECK(model.get("1.u") == u);
        CHECK(model.get("0.batches") == std::vector<real>{2});
    }
    CHECK(model.get("1.u") == u);
}

#ifndef CASTNET_TEST_DEVICE
TEST_CASE("with means of their own, replicas agree in the end") {
    auto const model = after_steps<apart, 8>(16);
    CHECK(std::all_of(model.begin(), model.end(), [](auto x) { return std::isfinite(x); }));
}

TEST_CASE("they are floats where products read bfloat16") {
    cn::model<network, cn::policy::bf16<cn::policy::cpu>, cn::batch<16>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    for (int i = 0; i < 300; ++i) {
        training.step(samples(), first(16));
    }
    CHECK(model.get("0.batches") == std::vector<float>{300}); // as bfloat16 has 8 bits
}

TEST_CASE("each device has those of its layers") {
    CHECK(after_steps_of<on_two, cn::policy::model_parallel<policy, 2>>() ==
          after_steps_of<on_two, policy>());
}
#endif
