// Networks on several simulated GPUs take the steps that they take on one, in every order of work
// that their streams and events allow.
#include "../model_parallel.hpp"

#include <castnet/castnet.hpp>
#include <castnet/data/map.hpp>
#include <castnet/policy/model_parallel.hpp>

#include "../temporary_path.hpp"
#include "device.hpp"
#include "orders.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace cn = castnet;
using check::largest_difference;
using model_parallel_test::after_fit, model_parallel_test::samples;
using on_host::in_several_orders;

namespace {

using cn::conv2d, cn::dense, cn::input, cn::on, cn::relu;
using one = on_host::policy<false>;
template <int N, class Where = one>
using gpus = cn::policy::model_parallel<Where, N>;

// Two branches with the same encoder, joined on a third device.
struct siamese {
    static constexpr auto encode =
        cn::shared<"encoder", cn::block<dense<6>, cn::tanh, cn::dropout<0.2F>, dense<4>>>;
    constexpr auto operator()(auto a, auto b) const {
        return cn::concat(a | on<0, encode>, b | on<1, encode>) |
               on<2, dense<5>.l2(1e-3F), relu, dense<3>>;
    }
};
using two_branches = cn::network<siamese{}, input<7>, input<7>>;

// One LSTM for two sequences, each on a device of its own.
struct reader {
    static constexpr auto read = cn::shared<"reader", cn::lstm<5>>;
    constexpr auto operator()(auto a, auto b) const {
        return cn::concat(a | on<0, read>, b | on<1, read>) | dense<3>;
    }
};
using two_readers = cn::network<reader{}, input<4, 3>, input<4, 3>>;

// A chain in two parts, with batch normalisation in both, whose second half comes home.
using pipeline = cn::sequential<input<1, 6, 6>, conv2d<4, 3>, cn::batch_norm, relu,
                                on<1, conv2d<3, 3>, cn::batch_norm, relu>, cn::flatten, dense<3>>;

// A convolution that two devices share, and another on the second.
struct convolutions {
    static constexpr auto encode = cn::shared<"encoder", cn::block<conv2d<4, 3>, relu>>;
    constexpr auto operator()(auto a, auto b) const {
        auto const left = a | on<0, encode>;
        auto const right = b | on<1, encode>;
        return (left + right) | on<1, conv2d<3, 3>, cn::batch_norm, relu> | cn::flatten | dense<3>;
    }
};
using images = cn::network<convolutions{}, input<1, 6, 6>, input<1, 6, 6>>;

// Statistics that two devices share, each application of which goes on from the one before.
struct twins {
    static constexpr auto encode =
        cn::shared<"encoder", cn::block<cn::spectral_norm<conv2d<4, 3>>, cn::batch_norm, relu>>;
    constexpr auto operator()(auto a, auto b) const {
        auto const left = a | on<0, encode>;
        auto const right = b | on<1, encode>;
        return (left - right) | cn::flatten | dense<3>;
    }
};
using with_statistics = cn::network<twins{}, input<1, 6, 6>, input<1, 6, 6>>;

// Everything on the first device.
using single = cn::sequential<input<7>, on<0, dense<5>>, relu, dense<3>>;

// What f throws.
template <class F>
std::string failure(F const& f) {
    try {
        f();
    } catch (cn::error const& e) {
        return e.what();
    }
    return "nothing";
}

} // namespace

TEST_CASE("branches on three GPUs end with the bits of one, piece by piece and by graphs") {
    auto const expected = after_fit<two_branches, one>();
    in_several_orders([&] {
        auto const launches = machine::here().launches;
        CHECK(after_fit<two_branches, gpus<3>>() == expected);
        CHECK(machine::here().launches > launches);
        CHECK(after_fit<two_branches, gpus<3, cn::policy::eager<one>>>() == expected);
    });
    CHECK(after_fit<two_branches, gpus<3>>({}, cn::devices{3, 0, 2}) == expected);
    CHECK(after_fit<two_branches, gpus<3>>({}, cn::devices{1, 1, 0}) == expected); // a shared one
    machine::here().has_peers = false;
    CHECK(after_fit<two_branches, gpus<3>>() == expected); // by way of the host
    machine::here().has_peers = true;
}

TEST_CASE("a chain of two GPUs ends with the bits of one") {
    auto const expected = after_fit<pipeline, one>();
    in_several_orders([&] { CHECK(after_fit<pipeline, gpus<2>>() == expected); });
}

TEST_CASE("statistics that two GPUs share are those of one") {
    auto const expected = after_fit<with_statistics, one>();
    in_several_orders(
        [&] { CHECK(largest_difference(after_fit<with_statistics, gpus<2>>(), expected) < 1e-8); });
}

TEST_CASE("a shared LSTM takes the same steps, and the norm of gradients is that of all GPUs") {
    auto const clipped = cn::clip_norm(cn::sgd{.learning_rate = 0.3}, 0.1);
    auto const expected = after_fit<two_readers, one>(clipped);
    in_several_orders([&] {
        CHECK(largest_difference(after_fit<two_readers, gpus<2>>(clipped), expected) < 1e-12);
    });
    CHECK(largest_difference(after_fit<two_readers, one>(cn::sgd{.learning_rate = 0.3}), expected) >
          1e-3);
}

TEST_CASE("a policy of one device, and a device without work") {
    auto const expected = after_fit<single, one>();
    CHECK(after_fit<single, gpus<1>>() == expected);
    CHECK(after_fit<single, gpus<2>>() == expected);
}

TEST_CASE("accumulated gradients are clipped and applied on all GPUs") {
    auto const rule = cn::accumulate<2>(cn::clip_norm(cn::momentum{.learning_rate = 0.2}, 0.5));
    auto const expected = after_fit<two_branches, one>(rule);
    in_several_orders([&] {
        CHECK(largest_difference(after_fit<two_branches, gpus<3>>(rule), expected) < 1e-12);
    });
}

TEST_CASE("a step whose samples cannot be read brings running statistics back on all GPUs") {
    auto const data = samples<pipeline>(16);
    auto const broken = cn::data::map<cn::shape<1, 6, 6>>(data, [](auto, auto) {
        static int reads = 0;
        if (++reads % 16 == 0) {
            throw std::runtime_error("no such file");
        }
    });
    std::vector<std::size_t> all(16);
    std::iota(all.begin(), all.end(), std::size_t(0));
    cn::model<pipeline, gpus<2>, cn::batch<8>> model{cn::seed{4}}, other{cn::seed{4}};
    auto training = cn::compile(model, cn::cross_entropy, cn::accumulate<2>(cn::sgd{}));
    auto same = cn::compile(other, cn::cross_entropy, cn::accumulate<2>(cn::sgd{}));
    for (int i = 0; i < 4; ++i) {
        CHECK_THROWS_AS(training.step(broken, all), cn::sample_error);
        CHECK(training.step(data, all).loss() == same.step(data, all).loss());
        for (char const* name : {"1.running_mean", "1.running_var", "4.running_mean"}) {
            CHECK(model.get(name) == other.get(name));
        }
    }
}

// What crosses devices is not rounded.
TEST_CASE("in bfloat16 several GPUs take the steps of one up to rounding") {
    using in_bf16 = on_host::policy<false, true>;
    auto const expected = after_fit<images, in_bf16>();
    in_several_orders(
        [&] { CHECK(largest_difference(after_fit<images, gpus<2, in_bf16>>(), expected) < 0.02); });
}

TEST_CASE("a checkpoint goes from one GPU to three and back, and parameters may be frozen") {
    auto const data = samples<two_branches>(24);
    check::temporary_path const place{"gpus.safetensors"};
    std::string const& file = place.name;
    auto const fit = [&](auto& t) {
        return t.fit(data, {.epochs = 1, .verbose = cn::verbosity::silent})["loss"];
    };
    cn::model<two_branches, one, cn::batch<8>> model{cn::seed{4}};
    cn::model<two_branches, gpus<3>, cn::batch<8>> other{cn::seed{4}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    auto resumed = cn::compile(other, cn::cross_entropy, cn::adam{}, cn::accuracy);
    fit(training);
    cn::save(training, file);
    cn::load(resumed, file);
    for (auto const& name : {"encoder.0.*", "*.bias"}) {
        training.freeze(name);
        resumed.freeze(name);
        CHECK(fit(resumed) == fit(training));
        training.unfreeze(name);
        resumed.unfreeze(name);
    }
    cn::save(resumed, file);
    cn::load(training, file);
    CHECK(fit(resumed) == fit(training));
    CHECK(resumed.evaluate(data).loss() == training.evaluate(data).loss());
}

namespace {

// A training of two branches, step by step.
struct stepped {
    cn::model<two_branches, gpus<3>, cn::batch<8>> model{cn::seed{4}};
    decltype(cn::compile(model, cn::cross_entropy, cn::adam{})) training =
        cn::compile(model, cn::cross_entropy, cn::adam{});
    decltype(samples<two_branches>(8)) data = samples<two_branches>(8);

    double step() {
        std::size_t const all[] = {0, 1, 2, 3, 4, 5, 6, 7};
        return training.step(data, all).loss();
    }
};

} // namespace

TEST_CASE("a step has a copy for each value that another GPU reads, and is one launch") {
    auto const& here = machine::here();
    stepped now;
    auto const before = here.peer_copies;
    now.step();
    // Encoder's weights and biases to device 1, both results to device 2, their gradients back, and
    // what device 1 adds to the gradients of 4 parameters.
    CHECK(here.peer_copies - before == 4 + 2 + 2 + 4);
    auto const waits = here.waits;
    now.step();
    CHECK(here.waits > waits);
    for (int i = 0; i < 2; ++i) {
        now.step(); // captured
    }
    auto const launches = here.launches, copies = here.peer_copies;
    for (int i = 0; i < 4; ++i) {
        now.step();
    }
    CHECK(here.launches - launches == 4);
    CHECK(here.peer_copies == copies); // all in the graphs
    CHECK(here.launches_that_allocate == 0);
}

TEST_CASE("GPUs copy from each other directly where they can") {
    machine::here().peers.clear();
    {
        stepped now;
    }
    CHECK(machine::here().peers.size() == 6);
    machine::here().peers.clear();
    machine::here().has_peers = false;
    {
        stepped now;
        auto const launches = machine::here().launches, copies = machine::here().peer_copies;
        for (int i = 0; i < 6; ++i) {
            now.step();
        }
        // By way of the host, which no graph can.
        CHECK(machine::here().launches == launches);
        CHECK(machine::here().peer_copies - copies == 6 * (4 + 2 + 2 + 4));
    }
    CHECK(machine::here().peers.empty());
    machine::here().has_peers = true;
}

TEST_CASE("errors say which GPU it was") {
    auto const contains = [](std::string const& text, char const* part) {
        INFO(text);
        return text.find(part) != std::string::npos;
    };
    machine::here().full = 2;
    CHECK(contains(failure([] { stepped now; }), "on GPU 2, device 2 of policy::model_parallel"));
    machine::here().full = -1;
    using model = cn::model<two_branches, gpus<3>, cn::batch<8>>;
    CHECK(contains(failure([] { model{cn::seed{}, cn::devices{0, 1}}; }),
                   "runs on 3 devices in a process, but devices{…} names 2"));
    CHECK(contains(failure([] { model{cn::seed{}, cn::devices{0, 1, 4}}; }),
                   "was given GPU 4, but the program sees 4"));
}

TEST_CASE("whatever call fails, a training on several GPUs ends with an error and does not hang") {
    auto& calls = machine::here().calls;
    bool has_struck = false; // before the training has ended
    auto const train = [&] {
        stepped now;
        for (int i = 0; i < 6; ++i) {
            now.step();
        }
        now.model.predict(now.data);
        has_struck = calls.has_struck();
    };
    calls.clear();
    train();
    auto const all = calls.calls();
    for (std::uint64_t k = 1; k <= all; k += 1 + all / 150) {
        CAPTURE(k);
        machine::here().random = k;
        has_struck = false;
        calls.set(k, k % 2 == 0); // once, or from then on
        std::string const said = failure(train);
        CHECK((said != "nothing" || !has_struck));
        calls.clear();
    }
}

TEST_CASE("inner layers, and sequences step by step, are predicted on several GPUs") {
    using network = cn::sequential<input<4, 3>, cn::lstm<5>, on<1, dense<2>>>;
    cn::model<network, one, cn::batch<2>> model{cn::seed{3}};
    cn::model<network, gpus<2>, cn::batch<2>> other{cn::seed{3}};
    std::vector<double> sequence(12);
    for (std::size_t i = 0; i < sequence.size(); ++i) {
        sequence[i] = std::sin(double(i));
    }
    auto const whole = model.predict(sequence);
    CHECK(other.predict(sequence) == whole);
    CHECK(cn::output_of<"0">(other, sequence) == cn::output_of<"0">(model, sequence));
    cn::stateful_predictor steps{other};
    std::vector<double> last;
    for (std::size_t i = 0; i < 4; ++i) {
        auto const y = steps.predict(std::span<double const, 3>{&sequence[3 * i], 3});
        last.assign(y.begin(), y.end());
    }
    CHECK(largest_difference(last, whole) < 1e-14);
    steps.prefill(sequence);
    CHECK(largest_difference({steps.output<0>().begin(), steps.output<0>().end()}, whole) < 1e-14);
}

TEST_CASE("a training is profiled, and memory is that of all GPUs") {
    stepped now;
    using type = decltype(now.training);
    CHECK(now.training.allocated_bytes() == type::bytes);
    CHECK(cn::profile(now.training, now.data, std::vector<std::size_t>{0, 1, 2}).size() ==
          std::size_t(type::training_plan().sizes.launches));
    CHECK(std::isfinite(now.step()));
}
