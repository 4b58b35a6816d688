// Training of networks with loops over time: they learn, with any number of threads and replicas,
// and predict in batches that are not full.
#include <castnet/castnet.hpp>
#include <castnet/data/subset.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/policy/model_parallel.hpp>

#include "policy.hpp"

#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

namespace cn = castnet;

namespace {

constexpr std::size_t time = 12;

struct recall { // the first of the numbers that count, after all of them have been read
    constexpr auto operator()(auto x, auto lengths) const {
        return cn::lstm<12>(cn::with_lengths(x, lengths)) | cn::dense<1>;
    }
};
struct recall_more {
    constexpr auto operator()(auto x, auto lengths) const {
        return cn::lstm<40>(cn::with_lengths(x, lengths)) | cn::dense<1>;
    }
};
using recalling = cn::network<recall{}, cn::input<time, 2>, cn::input<>>;
using recall_data = cn::data::dataset<cn::shape<1>, cn::shape<time, 2>, cn::shape<>>;

// x_t has a number that is to be remembered in the first step only, and noise.
recall_data recall_samples(std::size_t count, std::uint32_t seed) {
    std::vector<float> x, lengths, y;
    for (std::size_t i = 0; i < count; ++i) {
        auto const at = [&](std::size_t k) {
            auto const words =
                cn::philox({std::uint32_t(i), std::uint32_t(k), seed, 0}, cn::key_of(5));
            return cn::uniform<float>(words.x0) * 2 - 1;
        };
        for (std::size_t t = 0; t < time; ++t) {
            x.push_back(at(t));
            x.push_back(t == 0 ? 1.0F : 0.0F);
        }
        y.push_back(at(0));
        lengths.push_back(std::floor((at(time) + 1) / 2 * float(time)) + 1);
    }
    return recall_data{x, lengths, y};
}

// A loop that reads a value from outside in every step.
struct scaled_loop {
    constexpr auto operator()(auto x, auto scale) const {
        return cn::scan(x, cn::shape<8>{},
                        [scale](auto x_t, auto state) {
                            return cn::tanh(x_t + scale * (state | cn::dense<8>));
                        })
            .last;
    }
};

// Where the policy has two devices, the second loop is on the other one.
struct two_loops {
    constexpr auto operator()(auto x) const {
        auto const h = x | cn::bidirectional<cn::gru<4>>.template layers<2>().return_sequences();
        return cn::on<1, scaled_loop{}>(h, cn::sum(x)) | cn::dense<3>;
    }
};

template <class Policy, std::size_t Batch>
auto trained_for(int steps) {
    using net = cn::network<two_loops{}, cn::input<5, 3>>;
    cn::model<net, Policy, cn::batch<Batch>> model{cn::seed{3}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.01});
    std::vector<float> x(12 * 15), labels(12);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * 37 % 101) / 50 - 1;
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = float(i % 3);
    }
    cn::data::dataset<cn::data::label<3>, cn::shape<5, 3>> const data{x, labels};
    training.fit(data, {.epochs = steps, .verbose = cn::verbosity::silent});
    return model.predict(data);
}

// The gradients of an LSTM's weights by samples of up to eight steps, which are padded to Time.
template <std::size_t Time>
std::vector<double> padded_gradients() {
    constexpr std::size_t features = 12, samples = 16;
    using net = cn::network<recall_more{}, cn::input<Time, features>, cn::input_length<Time>>;
    std::vector<double> x(samples * Time * features), lengths, y;
    for (std::size_t i = 0; i < samples; ++i) {
        for (std::size_t k = 0; k < 8 * features; ++k) {
            x[i * Time * features + k] = std::sin(double(i * 31 + k * 7));
        }
        lengths.push_back(double(i * 5 % 8) + 1);
        y.push_back(double(i % 3));
    }
    cn::data::dataset<cn::shape<1>, cn::shape<Time, features>, cn::length_of<Time>> const data{
        x, lengths, y};
    cn::model<net, check::policy, cn::batch<samples>> model{cn::seed{3}};
    auto training = cn::compile(model, cn::mse, cn::sgd{});
    std::vector<std::size_t> all(samples);
    std::iota(all.begin(), all.end(), std::size_t{0});
    training.step(data, all, 0.1);
    std::vector<double> found;
    for (char const* name : {"lstm_1.weight_ih_l0", "lstm_1.weight_hh_l0"}) {
        auto const gradient = training.gradient(name);
        found.insert(found.end(), gradient.begin(), gradient.end());
    }
    return found;
}

} // namespace

TEST_CASE("an LSTM remembers") {
    auto const data = recall_samples(512, 1), unseen = recall_samples(128, 2);
    cn::model<recalling, cn::policy::cpu, cn::batch<32>> model{cn::seed{7}};
    auto training = cn::compile(model, cn::mse, cn::adam{.learning_rate = 0.01});
    training.fit(data, {.epochs = 30, .verbose = cn::verbosity::silent});
    CHECK(training.evaluate(unseen).loss() < 0.02); // of a variance of 1/3
}

TEST_CASE("replicas train as one does, and so do several devices") {
    using one = check::policy;
    using replicas = cn::policy::mirrored<check::policy, 2>;
    using on_cpu = cn::policy::basic_cpu<double>;
    using devices = cn::policy::model_parallel<on_cpu, 2>;
    auto const a = trained_for<one, 12>(3), b = trained_for<replicas, 6>(3);
    CHECK(trained_for<devices, 12>(3) == trained_for<on_cpu, 12>(3));
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(double(a[i]) == doctest::Approx(double(b[i])).epsilon(1e-9));
    }
}

TEST_CASE("a sample's prediction does not depend on its batch") {
    cn::model<recalling, cn::policy::cpu, cn::batch<32>> model{cn::seed{7}};
    auto const data = recall_samples(37, 3);
    std::vector<float> const all = model.predict(data);
    for (std::size_t i : {std::size_t{0}, std::size_t{31}, std::size_t{36}}) {
        CHECK(model.predict(cn::data::take(cn::data::skip(data, i), 1))[0] == all[i]);
    }
}

TEST_CASE("gradients do not depend on how far sequences are padded") {
    auto const found = padded_gradients<40>(), expected = padded_gradients<8>();
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-9));
    }
}
