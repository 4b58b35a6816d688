// Steps of several batches: they are those of one batch that is as large, and go on from a
// checkpoint to the last bit.
#include <castnet/castnet.hpp>
#include <castnet/data/generated.hpp>
#include <castnet/data/map.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "../temporary_path.hpp"
#include "policy.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace cn = castnet;

namespace {

using check::policy;

// 12 samples a step, with dropout by the place in the step. (Batch normalisation has statistics of
// its own for each batch.)
using network =
    cn::sequential<cn::input<6>, cn::dense<8>.l2(1e-3F), cn::tanh, cn::dropout<0.3F>, cn::dense<3>>;
using in_one_go = cn::model<network, policy, cn::batch<12>>;
using in_three = cn::model<network, policy, cn::batch<4>>;
using by_two = cn::model<network, cn::policy::logical<policy, 2>, cn::batch<2>>;

auto samples(std::size_t count) {
    std::vector<float> x, weights;
    std::vector<int> y;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < 6; ++k) {
            x.push_back(float(i * 37 % 101 + k * 50 % 83) / 64 - 1);
        }
        y.push_back(int(i * 7 % 3));
        weights.push_back(i % 12 < 4 && i < 12 ? 0.0F : float(i % 3 + 1) / 2);
    }
    return cn::data::dataset<cn::data::label<3>, cn::shape<6>>{x, y}.with_weights(weights);
}

// All numbers after two epochs of 31 samples, whose last step has 7, and their losses.
template <class Model, class Optimizer>
auto trained(Optimizer const& optimizer) {
    Model model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, optimizer, cn::accuracy);
    CHECK(training.step_capacity() == 12);
    auto const h = training.fit(samples(31), {.epochs = 2,
                                              .schedule = cn::cosine_decay(0.05),
                                              .class_weight = {1, 2, 1},
                                              .shuffle = false,
                                              .verbose = cn::verbosity::silent});
    CHECK(training.steps() == 6);
    CHECK(training.allocated_bytes() == training.bytes);
    auto all = check::everything(model);
    all.insert(all.end(), {h["loss"][0], h["loss"][1], h["accuracy"][0], h["accuracy"][1]});
    return all;
}

template <class Optimizer>
void takes_the_steps_of_one_batch(Optimizer const& optimizer) {
    CAPTURE(Optimizer::name);
    auto const expected = trained<in_one_go>(optimizer);
    CHECK(check::largest_difference(trained<in_three>(cn::accumulate<3>(optimizer)), expected) <
          1e-12);
    CHECK(check::largest_difference(trained<in_one_go>(cn::accumulate<1>(optimizer)), expected) ==
          0);
}

struct file : check::temporary_path {
    file() : temporary_path{"accumulate.safetensors"} {}
};

} // namespace

TEST_CASE("steps of three batches are those of one that is as large") {
    takes_the_steps_of_one_batch(cn::sgd{.learning_rate = 0.1});
    takes_the_steps_of_one_batch(cn::adam{});
    takes_the_steps_of_one_batch(cn::clip_norm(cn::momentum{}, 0.5));
}

TEST_CASE("clipping within and around accumulation is the same") {
    auto const within = trained<in_three>(cn::accumulate<3>(cn::clip_norm(cn::momentum{}, 0.5)));
    auto const around = trained<in_three>(cn::clip_norm(cn::accumulate<3>(cn::momentum{}), 0.5));
    CHECK(within == around);
}

TEST_CASE("replicas accumulate, too") {
    auto const expected = trained<in_one_go>(cn::adam{});
    CHECK(check::largest_difference(trained<by_two>(cn::accumulate<3>(cn::adam{})), expected) <
          1e-12);
}

TEST_CASE("a step has the samples of all its batches, and no more") {
    in_three model;
    auto training = cn::compile(model, cn::cross_entropy, cn::accumulate<3>(cn::sgd{}));
    auto const data = samples(31);
    std::vector<std::size_t> numbers(13);
    std::iota(numbers.begin(), numbers.end(), std::size_t(0));
    CHECK_THROWS_WITH_AS(training.step(data, numbers),
                         "castnet: a step of at most 12 samples was given 13", cn::error);
    auto const before = check::everything(model);
    training.step(data, std::span{numbers}.first(4)); // of weight 0
    CHECK(training.steps() == 0);
    CHECK(check::everything(model) == before);
    in_one_go same;
    auto large = cn::compile(same, cn::cross_entropy, cn::sgd{});
    auto const a = training.step(data, std::span{numbers}.first(7));
    auto const b = large.step(data, std::span{numbers}.first(7));
    CHECK(a.loss() == doctest::Approx(b.loss()).epsilon(1e-12));
    CHECK(check::largest_difference(training.gradient("0.weight"), large.gradient("0.weight")) <
          1e-12);
}

TEST_CASE("what throws within a step leaves nothing for the next one") {
    in_three model{cn::seed{5}}, other{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::accumulate<3>(cn::sgd{}));
    auto expected = cn::compile(other, cn::cross_entropy, cn::accumulate<3>(cn::sgd{}));
    auto const data = samples(24);
    int left = 18; // samples before the failure, which is in the second batch of a second step
    auto const failing = cn::data::map<cn::shape<6>>(data, [&](auto in, auto out) {
        if (left-- == 0) {
            throw std::runtime_error("no such file");
        }
        std::copy(in.begin(), in.end(), out.begin());
    });
    std::vector<std::size_t> numbers(12);
    std::iota(numbers.begin(), numbers.end(), std::size_t(12));
    training.step(failing, numbers);
    expected.step(data, numbers);
    CHECK_THROWS_AS(training.step(failing, numbers), std::runtime_error);
    training.step(failing, numbers);
    expected.step(data, numbers);
    CHECK(check::everything(model) == check::everything(other));
}

namespace {

// A sample of the last batch of the second step cannot be read.
template <class Policy, std::size_t Batch, class Optimizer>
void failed_step_changes_nothing(Optimizer const& optimizer) {
    using normalized = cn::sequential<cn::input<6>, cn::dense<8>, cn::batch_norm, cn::tanh,
                                      cn::dense<3>, cn::batch_norm>;
    cn::model<normalized, Policy, cn::batch<Batch>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, optimizer, cn::accuracy);
    CHECK(training.step_capacity() == 12);
    auto const failing = cn::data::generated<cn::data::label<3>, cn::shape<6>>(
        24,
        [](std::size_t sample, auto x) {
            if (sample == 23) {
                throw std::runtime_error("no such file");
            }
            for (std::size_t k = 0; k < x.size(); ++k) {
                x[k] = float(sample * 37 % 101 + k * 50 % 83) / 64 - 1;
            }
        },
        [](std::size_t sample, auto label) { label[0] = float(sample % 3); });
    std::vector<double> before;
    double loss = 0;
    auto const remember = [&](cn::step_report const&) {
        before = check::everything(model);
        loss = training.position().sums.sum[0];
    };
    CHECK_THROWS_AS(training.fit(failing, {.shuffle = false,
                                           .verbose = cn::verbosity::silent,
                                           .callbacks = {cn::on_step_end{remember}}}),
                    cn::sample_error);
    CHECK(training.steps() == 1);
    CHECK(check::everything(model) == before);
    CHECK(training.position().sums.sum[0] == loss);
}

} // namespace

TEST_CASE("a step whose samples cannot be read changes nothing") {
    failed_step_changes_nothing<policy, 4>(cn::accumulate<3>(cn::adam{}));
    failed_step_changes_nothing<cn::policy::logical<policy, 2>, 2>(cn::accumulate<3>(cn::adam{}));
#ifndef CASTNET_TEST_DEVICE
    using local = cn::policy::mirrored<policy, 2, cn::strategy::local_batch_norm>;
    failed_step_changes_nothing<local, 6>(cn::adam{});
#endif
}

TEST_CASE("a training with accumulation goes on from its checkpoint within an epoch") {
    file const f;
    auto const data = samples(40);
    auto const compiled = [](auto& model) {
        return cn::compile(model, cn::cross_entropy, cn::accumulate<3>(cn::adam{}), cn::accuracy);
    };
    in_three whole{cn::seed{3}}, part{cn::seed{3}}, rest{cn::seed{3}};
    auto all = compiled(whole), begin = compiled(part), end = compiled(rest);
    auto const expected = all.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent});
    auto const stop = [](cn::step_report& report) { report.stop = report.step == 2; };
    begin.fit(data, {.epochs = 2,
                     .verbose = cn::verbosity::silent,
                     .checkpoint = cn::checkpoint(begin, f.name),
                     .callbacks = {cn::on_step_end{stop}}});
    cn::load(end, f.name);
    auto const h = end.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent});
    CHECK(h["loss"] == expected["loss"]);
    CHECK(check::everything(rest) == check::everything(whole));

    in_one_go large{cn::seed{3}}; // has the same samples in a step
    auto in_large = cn::compile(large, cn::cross_entropy, cn::adam{}, cn::accuracy);
    cn::load(in_large, f.name);
    CHECK(in_large.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent})["loss"][1] ==
          doctest::Approx(expected["loss"][1]).epsilon(1e-6));

    auto shorter = cn::compile(rest, cn::cross_entropy, cn::adam{}, cn::accuracy);
    CHECK_THROWS_WITH_AS(cn::load(shorter, f.name),
                         doctest::Contains("12 samples a step in 3 batches, but this training has "
                                           "batch<4>, 4 samples a step in 1"),
                         cn::file_error);
}
