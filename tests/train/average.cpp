// Moving averages of weights: their numbers, on every policy, and in checkpoints.
#include <castnet/castnet.hpp>
#include <castnet/data/generated.hpp>
#include <castnet/data/weights.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "../temporary_path.hpp"
#include "policy.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace cn = castnet;

namespace {

using check::policy;
using network = cn::sequential<cn::input<2>, cn::dense<8>, cn::batch_norm, cn::tanh, cn::dense<3>>;
using one = cn::model<network, policy, cn::batch<16>>;
using by_two = cn::model<network, cn::policy::logical<policy, 2>, cn::batch<8>>;
using in_shards =
    cn::policy::logical<cn::policy::basic_cpu<double>, 2, cn::strategy::sharded_optimizer>;
using of_shards = cn::model<network, in_shards, cn::batch<8>>;

auto compiled(auto& model) {
    return cn::compile(model, cn::cross_entropy, cn::ema(cn::adam{.learning_rate = 0.02}, 0.75));
}
auto samples() {
    return cn::data::blobs<3, 2>(64, 1);
}

// Averages behind each of the four steps of an epoch, in double.
template <class Model>
void averages() {
    Model model{cn::seed{3}};
    auto training = compiled(model);
    auto const data = samples();
    CHECK_THROWS_WITH_AS(([&] { cn::averaged_weights const now{training}; }()),
                         "castnet: averaged_weights: there are no averages before the first step",
                         cn::error);
    std::vector<double> expected;
    for (std::size_t step = 0; step < 4; ++step) {
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < 16; ++i) {
            numbers.push_back(16 * step + i);
        }
        training.step(data, numbers);
        auto const now = model.get("0.weight");
        expected.resize(now.size());
        for (std::size_t i = 0; i < now.size(); ++i) {
            expected[i] = step == 0 ? double(now[i]) : 0.75 * expected[i] + 0.25 * double(now[i]);
        }
    }
    auto const own = check::everything(model);
    auto const loss = training.evaluate(data).loss();
    {
        cn::averaged_weights const now{training};
        auto const found = model.get("0.weight");
        CHECK(check::largest_difference(std::vector<double>(found.begin(), found.end()), expected) <
              1e-12);
        CHECK(training.evaluate(data).loss() != loss);
    }
    CHECK(check::everything(model) == own);
    CHECK(training.evaluate(data).loss() == loss);
}

// By batches of the same samples, so that the former statistics wane by 0.9 in each.
template <class Model>
void statistics_of_averages() {
    Model model{cn::seed{3}};
    auto training = compiled(model);
    auto const data = cn::data::blobs<3, 2>(16, 1);
    REQUIRE(training.step_capacity() == data.size());
    std::vector<std::size_t> numbers(data.size());
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    training.step(data, numbers);
    training.step(data, numbers);
    training.freeze("0.bias");
    auto const own = check::everything(model);
    {
        cn::averaged_weights const now{training};
        auto const mean_before = model.get("1.running_mean"),
                   var_before = model.get("1.running_var"), weight = model.get("0.weight"),
                   bias = model.get("0.bias");
        for (int pass = 0; pass < 3; ++pass) {
            training.update_statistics(data);
        }
        auto const mean_found = model.get("1.running_mean"), var_found = model.get("1.running_var");
        CHECK(model.get("0.weight") == weight);
        auto const count = double(data.size()), left = std::pow(0.9, 3);
        for (std::size_t unit = 0; unit < bias.size(); ++unit) {
            double mean = 0, squares = 0;
            for (std::size_t i = 0; i < data.size(); ++i) {
                double x[2];
                data.copy_input(i, x);
                double const y = weight[2 * unit] * x[0] + weight[2 * unit + 1] * x[1] + bias[unit];
                mean += y / count;
                squares += y * y / count;
            }
            double const variance = (squares - mean * mean) * count / (count - 1);
            CHECK(std::abs(mean_found[unit] - std::lerp(mean, mean_before[unit], left)) < 1e-12);
            CHECK(std::abs(var_found[unit] - std::lerp(variance, var_before[unit], left)) < 1e-12);
        }
    }
    CHECK(check::everything(model) == own);
    CHECK(training.steps() == 2);
    CHECK(training.frozen() == std::vector<std::string>{"0.bias"});
}

// Those of an epoch of steps that leave the weights alone, to the last bit.
template <class Policy, std::size_t Batch>
void statistics_of_an_epoch(auto const& optimizer) {
    using normed = cn::sequential<cn::input<2>, cn::dense<8>, cn::batch_norm, cn::tanh,
                                  cn::dropout<0.25>, cn::dense<5>, cn::batch_norm, cn::dense<3>>;
    using model = cn::model<normed, Policy, cn::batch<Batch>>;
    auto const data = cn::data::blobs<3, 2>(53, 1);
    model stepped{cn::seed{3}}, passed{cn::seed{3}};
    auto steps = cn::compile(stepped, cn::cross_entropy, optimizer),
         passes = cn::compile(passed, cn::cross_entropy, optimizer);
    auto const begin = check::everything(passed);
    steps.freeze("*");
    steps.fit(data, {.verbose = cn::verbosity::silent});
    passes.update_statistics(data);
    CHECK(check::everything(passed) != begin);
    CHECK(check::everything(passed) == check::everything(stepped));

    using training = decltype(passes);
    using plans =
        typename cn::detail::statistics_replicas<model, typename training::loss_type,
                                                 typename training::optimizer_type>::replica_type;
    CHECK(2 * plans::training_plan().flops() < training::training_plan().flops());
}

// The first layer is frozen in the first step of two.
template <class Model>
void averages_of_frozen() {
    Model model{cn::seed{3}};
    auto training = compiled(model);
    auto const data = samples();
    std::vector<std::size_t> const numbers{0, 1, 2, 3};
    auto const average = [&] {
        cn::averaged_weights const now{training};
        return model.get("0.weight");
    };
    training.freeze("0.*");
    auto const before = model.get("0.weight");
    training.step(data, numbers);
    CHECK(average() == before);
    training.unfreeze("*");
    training.step(data, numbers);
    auto const after = model.get("0.weight");
    auto const found = average();
    REQUIRE(after != before);
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(std::abs(found[i] - (0.75 * before[i] + 0.25 * after[i])) < 1e-12);
    }
}

struct file : check::temporary_path {
    file() : temporary_path{"average.safetensors"} {}
};

} // namespace

TEST_CASE("averages of the weights follow them") {
    averages<one>();
    averages<by_two>();
    averages<of_shards>();
}

TEST_CASE("nothing trains on from averages, and no checkpoint has them for weights") {
    file const f;
    one model{cn::seed{3}};
    auto training = compiled(model);
    auto const data = samples();
    training.step(data, {0, 1, 2, 3});
    cn::save(training, f.name);
    auto const own = check::everything(model);
    {
        cn::averaged_weights const now{training};
        auto const averages = check::everything(model);
        char const* const why = "the model has the averages of its weights, as long as an "
                                "averaged_weights exists; end its block before";
        CHECK_THROWS_WITH_AS(training.step(data, {0, 1, 2, 3}), doctest::Contains(why), cn::error);
        CHECK_THROWS_WITH_AS(training.fit(data, {.verbose = cn::verbosity::silent}),
                             doctest::Contains(why), cn::error);
        CHECK_THROWS_WITH_AS(cn::save(training, f.name), doctest::Contains(why), cn::error);
        CHECK_THROWS_WITH_AS(cn::load(training, f.name), doctest::Contains(why), cn::error);
        auto other = cn::compile(model, cn::cross_entropy, cn::sgd{});
        CHECK_THROWS_WITH_AS(other.step(data, {0, 1, 2, 3}), doctest::Contains(why), cn::error);
        CHECK_THROWS_WITH_AS(cn::save(other, f.name), doctest::Contains(why), cn::error);
        CHECK_THROWS_WITH_AS(cn::load(model, f.name), doctest::Contains(why), cn::error);
        CHECK_THROWS_WITH_AS(cn::load(model, f.name, cn::partial{}), doctest::Contains(why),
                             cn::error);
        one const from{cn::seed{4}};
        CHECK_THROWS_WITH_AS(cn::copy_parameters(from, model), doctest::Contains(why), cn::error);
        CHECK_THROWS_WITH_AS(cn::copy_parameters(from, model, cn::partial{}),
                             doctest::Contains(why), cn::error);
        CHECK(check::everything(model) == averages);
    }
    CHECK(check::everything(model) == own);
    CHECK(training.steps() == 1);
    cn::load(training, f.name);
    CHECK(check::everything(model) == own);
    training.step(data, {0, 1, 2, 3});
}

TEST_CASE("the average of a parameter that is frozen from the beginning is the parameter") {
    averages_of_frozen<one>();
    averages_of_frozen<by_two>();
    averages_of_frozen<of_shards>();
}

TEST_CASE("statistics become those of the averages, and nothing else changes") {
    statistics_of_averages<one>();
    statistics_of_averages<by_two>();
    statistics_of_averages<of_shards>();
}

TEST_CASE("statistics are those of steps, without their gradients") {
    cn::adam const adam{};
    statistics_of_an_epoch<policy, 16>(adam);
    statistics_of_an_epoch<policy, 4>(cn::accumulate<4>(adam));
    statistics_of_an_epoch<cn::policy::logical<policy, 2>, 8>(adam);
    statistics_of_an_epoch<in_shards, 8>(adam);
    statistics_of_an_epoch<cn::policy::logical<policy, 2, cn::strategy::local_batch_norm>, 8>(adam);
}

TEST_CASE("statistics are updated within a fit, by all samples that count") {
    auto const data = samples();
    auto const losses = [&](bool updates) {
        one model{cn::seed{3}};
        auto training = compiled(model);
        auto const h = training.fit(
            data,
            {.epochs = 2, .verbose = cn::verbosity::silent, .on_epoch_end = [&](cn::epoch_report&) {
                 if (updates) {
                     cn::averaged_weights const now{training};
                     training.update_statistics(data);
                 }
             }});
        return h["loss"];
    };
    CHECK(losses(true) == losses(false));

    one model{cn::seed{3}};
    auto training = compiled(model);
    auto const own = check::everything(model);
    auto const nothing = cn::data::with_weights(data, std::vector<float>(data.size(), 0.F));
    CHECK_THROWS_WITH_AS(training.update_statistics(nothing),
                         "castnet: update_statistics: the weight of every sample is 0: none counts",
                         cn::error);
    CHECK(check::everything(model) == own);
    CHECK(training.frozen().empty());
}

TEST_CASE("averages change no step, and clipping goes with them") {
    auto const trained = [](auto const& optimizer) {
        one model{cn::seed{3}};
        auto training = cn::compile(model, cn::cross_entropy, optimizer);
        training.fit(samples(), {.epochs = 2, .verbose = cn::verbosity::silent});
        return check::everything(model);
    };
    cn::momentum const plain{.learning_rate = 0.1};
    CHECK(trained(cn::ema(plain)) == trained(plain));
    auto const clipped = trained(cn::clip_norm(plain, 0.1));
    CHECK(trained(cn::ema(cn::clip_norm(plain, 0.1))) == clipped);
    CHECK(trained(cn::clip_norm(cn::ema(plain), 0.1)) == clipped);
    CHECK(std::string{decltype(cn::ema(plain))::name} == "ema(momentum)");
}

TEST_CASE("the weights come back when another thread has predicted with the averages") {
    one model{cn::seed{3}};
    auto training = compiled(model);
    training.fit(samples(), {.epochs = 1, .verbose = cn::verbosity::silent});
    auto const own = check::everything(model);
    std::vector<double> const x(4, 0.5);
    std::atomic<bool> within = false;
    auto const slow = cn::data::generated<cn::data::label<3>, cn::shape<2>>(
        2,
        [&](std::size_t, auto to) {
            within = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            to[0] = to[1] = 0.5;
        },
        [](std::size_t, auto y) { y[0] = 0; });
    std::vector<double> expected, found;
    std::thread other;
    {
        cn::averaged_weights const now{training};
        expected = model.predict(x);
        other = std::thread{[&] { found = model.predict(slow); }};
        while (!within) {
            std::this_thread::yield();
        }
    }
    other.join();
    CHECK(found == expected);
    CHECK(check::everything(model) == own);
    CHECK(model.predict(x) != expected);
}

TEST_CASE("averages that a prediction refuses leave the weights as they were") {
    one model{cn::seed{3}};
    auto training = compiled(model);
    training.fit(samples(), {.epochs = 1, .verbose = cn::verbosity::silent});
    auto const own = check::everything(model);
    auto const asking = cn::data::generated<cn::data::label<3>, cn::shape<2>>(
        1,
        [&](std::size_t, auto x) {
            x[0] = x[1] = 0.5;
            CHECK_THROWS_WITH_AS(([&] { cn::averaged_weights const now{training}; }()),
                                 doctest::Contains("castnet: averaged_weights: needs the model's "
                                                   "parameters to itself, but 1 call predicts"),
                                 cn::error);
        },
        [](std::size_t, auto y) { y[0] = 0; });
    auto const expected = model.predict(asking);
    CHECK(check::everything(model) == own);

    // Also those that begin while the averages are put in.
    std::atomic<int> predicted = 0;
    std::atomic<bool> stop = false;
    std::thread other{[&] {
        cn::predictor predictor{model};
        std::vector<double> const x(2, 0.5);
        std::vector<double> y(3);
        while (!stop) {
            try {
                predictor.predict_one(x, y);
                ++predicted;
            } catch (cn::error const&) {
                std::this_thread::yield();
            }
        }
    }};
    auto const unchanged = [&] {
        for (;;) {
            try {
                cn::model_access::exclusive const access{model.access(), "unchanged"};
                return check::everything(model) == own;
            } catch (cn::error const&) {
                std::this_thread::yield();
            }
        }
    };
    int changed = 0;
    for (int i = 0; i < 5'000 || predicted == 0; ++i) {
        try {
            cn::averaged_weights const averages{training};
        } catch (cn::error const&) {
            std::this_thread::yield();
        }
        changed += !unchanged();
    }
    stop = true;
    other.join();
    CHECK(changed == 0);
    CHECK(model.predict(asking) == expected);
}

TEST_CASE("averages are evaluated within a fit, which goes on from a checkpoint with them") {
    file const f;
    auto const data = samples();
    auto const fit = [&](auto& training, int epochs) {
        std::vector<double> losses;
        training.fit(data, {.epochs = epochs,
                            .verbose = cn::verbosity::silent,
                            .checkpoint = cn::checkpoint(training, f.name),
                            .on_epoch_end = [&](cn::epoch_report&) {
                                cn::averaged_weights const now{training};
                                losses.push_back(training.evaluate(data).loss());
                            }});
        return losses;
    };
    one whole{cn::seed{3}}, part{cn::seed{3}}, rest{cn::seed{3}};
    auto all = compiled(whole), begin = compiled(part), end = compiled(rest);
    auto const expected = fit(all, 3);
    CHECK(fit(begin, 1)[0] == expected[0]);
    cn::load(end, f.name);
    CHECK(fit(end, 3).back() == expected[2]);
    CHECK(check::everything(rest) == check::everything(whole));

    auto slower =
        cn::compile(rest, cn::cross_entropy, cn::ema(cn::adam{.learning_rate = 0.02}, 0.5));
    CHECK_THROWS_WITH_AS(cn::load(slower, f.name), doctest::Contains("average_decay"),
                         cn::file_error);
    CHECK_THROWS_AS(cn::compile(rest, cn::cross_entropy, cn::ema(cn::adam{}, 1)), cn::error);
}
