// Noise and alpha dropout: their distributions, where they are, and the gradients through them.
#include <castnet/nn/dense.hpp>
#include <castnet/nn/dropout.hpp>
#include <castnet/nn/losses.hpp>
#include <castnet/nn/noise.hpp>
#include <castnet/nn/pooling1d.hpp>
#include <castnet/nn/tensor_functions.hpp>
#include <castnet/nn/time_steps.hpp>
#include <castnet/optim/optimizers.hpp>
#include <castnet/policy/cpu.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/train/compile.hpp>
#include <castnet/train/copy_parameters.hpp>

#include "harness.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace cn = castnet;
using check::against_finite_differences, check::run_of, cn::shape;

namespace {

struct only_noise {
    constexpr auto operator()(auto x) const { return 0 * x + cn::normal_noise(x); }
};
struct reparameterized {
    constexpr auto operator()(auto x) const {
        auto const mean = x | cn::dense<2>, log_variance = x | cn::dense<2>;
        return mean + cn::exp(0.5 * log_variance) * cn::normal_noise(mean);
    }
};

// What kernels read that draw no numbers themselves, less the same numbers.
struct noise_read {
    constexpr auto operator()(auto x) const {
        auto const n = cn::normal_noise(x);
        auto const joined = cn::concat(n, x) | cn::slice_channels<0, 3>;
        auto const turned = cn::transpose(cn::transpose(n));
        auto const padded = cn::pad<0, 1, 1>(n);
        auto const there = n * 1.0;
        return cn::concat(joined - there, turned - there, cn::slice<0, 1, 6>(padded) - there,
                          (n | cn::max_pool1d<1>)-there, cn::reverse<0>(cn::reverse<0>(n)) - there);
    }
};

// Mean, variance, third and fourth moment.
std::array<double, 4> moments(check::values const& all) {
    std::array<double, 4> m{};
    for (double const x : all) {
        for (std::size_t k = 0; k < 4; ++k) {
            m[k] += std::pow(x, double(k + 1)) / double(all.size());
        }
    }
    return m;
}

} // namespace

TEST_CASE("quantiles of random words") {
    using cn::elementary::standard_normal;
    auto const word = [](double probability) { return std::uint32_t(probability * 0x1p24) << 8; };
    for (auto const& [probability, quantile] : {std::pair{0.5, 0.0},
                                                {0.75, 0.674489750196},
                                                {0.975, 1.959963984540},
                                                {0.99, 2.326347874041},
                                                {0.999, 3.090232306168},
                                                {0.00001, -4.264890793923}}) {
        CAPTURE(probability);
        double const step = 0x1p-24 / std::exp(-quantile * quantile / 2); // between two words
        CHECK(std::abs(standard_normal<double>(word(probability)) - quantile) < 3 * step + 2e-7);
        CHECK(std::abs(standard_normal<float>(word(probability)) - quantile) < 3 * step + 2e-6);
    }
    CHECK(standard_normal<float>(0) == doctest::Approx(-5.41998).epsilon(1e-6));
    CHECK(standard_normal<float>(0xffffffff) == -standard_normal<float>(0));
}

TEST_CASE("noise has the standard normal distribution, in images as well") {
    auto r = run_of<only_noise{}, shape<3, 40, 40>>();
    r.run();
    auto const m = moments(r.output());
    double const count = double(r.output().size()); // 19,200
    CHECK(std::abs(m[0]) < 4 / std::sqrt(count));
    CHECK(std::abs(m[1] - 1) < 4 * std::sqrt(2 / count));
    CHECK(std::abs(m[2]) < 4 * std::sqrt(15 / count));
    CHECK(std::abs(m[3] - 3) < 4 * std::sqrt(96 / count));
    auto flat = run_of<only_noise{}, shape<50>>();
    flat.run();
    check::values const y = flat.output();
    for (std::size_t i = 1; i < y.size(); ++i) {
        CHECK(y[i] != y[i - 1]);
    }
}

TEST_CASE("every operation reads the same noise") {
    auto r = run_of<noise_read{}, shape<5, 3>>();
    r.set_input(check::random_values(r.input().size(), 1));
    r.run();
    CHECK(r.output() == check::values(r.output().size()));
}

namespace {

template <auto const& Layer>
void does_nothing_in_evaluation() {
    auto r = run_of<Layer, shape<4>, false>();
    check::values const x = check::random_values(16, 1);
    r.set_input(x);
    r.run();
    CHECK(r.output() == x);
}

} // namespace

TEST_CASE("there is no noise in evaluation") {
    does_nothing_in_evaluation<cn::gaussian_noise<0.5F>>();
    does_nothing_in_evaluation<cn::gaussian_dropout<0.5F>>();
    does_nothing_in_evaluation<cn::alpha_dropout<0.5F>>();
}

TEST_CASE("gaussian dropout multiplies by numbers of the variance of dropout") {
    auto r = run_of<cn::gaussian_dropout<0.2F>, shape<3, 40, 40>>();
    r.set_input(check::values(r.input().size(), -2.0));
    r.run();
    auto const m = moments(r.output());
    double const count = double(r.output().size()), variance = 4 * 0.2 / 0.8;
    CHECK(std::abs(m[0] + 2) < 4 * std::sqrt(variance / count));
    CHECK(std::abs(m[1] - 4 - variance) < 4 * std::sqrt((2 * variance + 4 * 4) * variance / count));
    auto none = run_of<cn::gaussian_dropout<0>, shape<3>>();
    none.set_input(check::values(none.input().size(), -2.0));
    none.run();
    CHECK(none.output() == none.input());
}

TEST_CASE("alpha dropout gives selu's least value and keeps mean and variance, as PyTorch's") {
    auto r = run_of<cn::alpha_dropout<0.2F>, shape<5000>>();
    check::values const x(r.input().size(), 3.0);
    r.set_input(x);
    r.set_grad_output(check::values(x.size(), 1.0));
    r.run();
    double const kept = 2.945751, dropped = -1.23616, a = 0.878904; // torch's, for p = 0.2
    std::size_t count = 0;
    check::values const output = r.output(), gradient = r.grad_input();
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const y = output[i];
        bool const here = y > 0;
        count += here ? 1 : 0;
        CHECK(y == doctest::Approx(here ? kept : dropped).epsilon(1e-5));
        CHECK(gradient[i] == doctest::Approx(here ? a : 0).epsilon(1e-5));
    }
    auto const all = double(x.size());
    CHECK(std::abs(double(count) - 0.8 * all) < 4 * std::sqrt(all * 0.8 * 0.2));
}

TEST_CASE("gradients go around noise") {
    against_finite_differences(run_of<cn::gaussian_noise<0.5F>, shape<7>>());
    against_finite_differences(run_of<cn::gaussian_noise<0.5F>, shape<2, 3, 3>>());
    against_finite_differences(run_of<reparameterized{}, shape<3>>());
    against_finite_differences(run_of<cn::gaussian_dropout<0.5F>, shape<2, 3, 3>>());
}

TEST_CASE("every step has noise of its own, which the seed determines") {
    using network = cn::sequential<cn::input<2>, cn::gaussian_noise<1.0F>, cn::dense<1>>;
    auto const losses = [](std::uint64_t seed) {
        cn::model<network, cn::policy::cpu, cn::batch<8>> model{cn::seed{1}};
        cn::model<network, cn::policy::cpu, cn::batch<8>> other{cn::seed{seed}};
        other.set("1.weight", model.get("1.weight"));
        auto training = cn::compile(other, cn::mse, cn::sgd{});
        cn::data::dataset<cn::shape<1>, cn::shape<2>> const data{std::vector<float>(16),
                                                                 std::vector<float>(8)};
        std::vector<std::size_t> const all{0, 1, 2, 3, 4, 5, 6, 7};
        return std::pair{training.step(data, all, 0.0).loss(),
                         training.step(data, all, 0.0).loss()};
    };
    CHECK(losses(1).first != losses(1).second);
    CHECK(losses(1) == losses(1));
    CHECK(losses(1) != losses(2));
}

namespace {

using dropping =
    cn::sequential<cn::input<4>, cn::dense<64>, cn::relu, cn::dropout<0.5>, cn::dense<1>>;
using always_dropping =
    cn::sequential<cn::input<4>, cn::dense<64>, cn::relu, cn::dropout<0.5>.always(), cn::dense<1>>;
struct channels_dropped {
    constexpr auto operator()(auto x) const {
        return (0 * x + 1) | cn::frozen<cn::spatial_dropout<0.25>.always()>;
    }
};

} // namespace

TEST_CASE("dropout that is always active gives copies of a sample results of their own") {
    cn::model<dropping, cn::policy::cpu, cn::batch<8>> model{cn::seed{3}};
    cn::model<always_dropping, cn::policy::cpu, cn::batch<8>> sampling{cn::seed{9}};
    cn::copy_parameters(model, sampling);
    std::vector<float> x;
    constexpr std::size_t copies = 4000; // in 500 batches
    for (std::size_t i = 0; i < copies; ++i) {
        x.insert(x.end(), {1, 2, 3, 4});
    }
    std::vector<float> const expected = model.predict({1.F, 2.F, 3.F, 4.F});
    std::vector<float> found = sampling.predict(x);
    CHECK(found == sampling.predict(x));
    double mean = 0, square = 0;
    for (float const y : found) {
        mean += double(y) / copies;
        square += double(y) * double(y) / copies;
    }
    double const deviation = std::sqrt(square - mean * mean);
    CHECK(deviation > 0.1);
    CHECK(std::abs(mean - double(expected[0])) < 4 * deviation / std::sqrt(double(copies)));
    std::sort(found.begin(), found.end());
    CHECK(std::unique(found.begin(), found.end()) - found.begin() >
          std::ptrdiff_t{copies} * 9 / 10);
}

TEST_CASE("dropout that is always active drops as much in evaluation as in predictions") {
    constexpr std::size_t copies = 20; // in three batches
    std::vector<float> x, zeros(copies);
    for (std::size_t i = 0; i < copies; ++i) {
        x.insert(x.end(), {1, 2, 3, 4});
    }
    cn::data::dataset<cn::shape<1>, cn::shape<4>> const data{x, zeros};
    cn::model<always_dropping, cn::policy::cpu, cn::batch<8>> model{cn::seed{9}};
    double expected = 0;
    for (float const y : model.predict(x)) {
        expected += double(y) * double(y) / copies;
    }
    auto training = cn::compile(model, cn::mse, cn::sgd{});
    CHECK(training.evaluate(data).loss() == doctest::Approx(expected));
    std::vector<std::size_t> numbers(16);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    training.step(data, std::span{numbers}.first(8), 0.0); // leaves nothing behind
    CHECK(training.evaluate(data).loss() == doctest::Approx(expected));

    using pair = cn::policy::mirrored<cn::policy::cpu, 2>;
    cn::model<always_dropping, pair, cn::batch<4>> parted{cn::seed{9}};
    auto together = cn::compile(parted, cn::mse, cn::sgd{});
    CHECK(together.evaluate(data).loss() == doctest::Approx(expected));

    auto accumulating = cn::compile(model, cn::mse, cn::accumulate<2>(cn::sgd{}));
    accumulating.step(data, numbers, 0.0);
    CHECK(accumulating.evaluate(data).loss() == doctest::Approx(expected));
}

TEST_CASE("whole features are dropped in predictions, also of frozen layers, if told to") {
    using net = cn::network<channels_dropped{}, cn::input<3, 400>>; // steps, features
    cn::model<net, cn::policy::cpu, cn::batch<2>> const model;
    std::vector<float> const y = model.predict(std::vector<float>(3 * 400));
    std::size_t dropped = 0;
    for (std::size_t i = 0; i < 400; ++i) {
        CHECK((y[i] == 0 || std::abs(y[i] - 4.F / 3) < 1e-6F));
        CHECK(y[i] == y[400 + i]);
        CHECK(y[i] == y[800 + i]);
        dropped += y[i] == 0;
    }
    CHECK(dropped > 60);
    CHECK(dropped < 140);
}
