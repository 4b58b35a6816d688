// N replicas with batch<B> take the steps of one with batch<N * B>.
#include <castnet/data/generated.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../train/policy.hpp"
#include "replicas.hpp"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>

using namespace replicas_test;

namespace {

using one = check::policy;
#ifdef CASTNET_TEST_DEVICE // of which there is one
template <int N>
using several = cn::policy::logical<one, N>;
#else
template <int N>
using several = cn::policy::mirrored<one, N>;
#endif

// full, a little less, fewer samples than replicas
template <int N>
void take_the_same_steps(data_set const& data) {
    CAPTURE(N);
    for (std::size_t count : {std::size_t(N) * 8, std::size_t(N) * 8 - 3, std::size_t{3}}) {
        CAPTURE(count);
        CHECK(largest_difference(after_steps<several<N>, 8>(data, first(count)),
                                 after_steps<one, 64>(data, first(count))) < 1e-12);
    }
}

using linear = cn::sequential<cn::input<2, 5, 5>, cn::flatten, cn::dense<3>>;

template <class Where>
auto gradient(data_set const& data, std::span<std::size_t const> chosen) {
    cn::model<linear, Where, cn::batch<13>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    training.step(data, chosen);
    return training.gradient("1.weight");
}

template <class Where, std::size_t Batch>
auto after_fit(data_set const& data, data_set const& validation) {
    cn::model<network, Where, cn::batch<Batch>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    auto const h = training.fit(data, {.epochs = 3,
                                       .schedule = cn::one_cycle(1e-2),
                                       .validation = validation,
                                       .class_weight = {1, 2, 1},
                                       .verbose = cn::verbosity::silent});
    auto all = everything(model);
    for (auto const& name : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
        auto const column = h[name];
        all.insert(all.end(), column.begin(), column.end());
    }
    return all;
}

template <int N>
void weigh_alike(data_set const& data) {
    CAPTURE(N);
    CHECK(largest_difference(after_steps<several<N>, 8>(data, first(13), {1, 0.5F, 2}),
                             after_steps<one, 64>(data, first(13), {1, 0.5F, 2})) < 1e-12);
}

} // namespace

TEST_CASE("replicas take the same steps as one with the whole batch") {
    auto const data = samples(64);
    take_the_same_steps<1>(data);
    take_the_same_steps<2>(data);
    take_the_same_steps<3>(data);
    take_the_same_steps<4>(data);
    take_the_same_steps<8>(data);
}

TEST_CASE("weights of samples and classes are those of the whole batch") {
    std::vector<float> weights(13);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i] = float(i % 4) * 0.5F; // some 0
    }
    auto const data = samples(13).with_weights(weights);
    weigh_alike<2>(data);
    weigh_alike<3>(data);
    weigh_alike<4>(data);
    weigh_alike<8>(data);
}

// What the tests of uneven shares must tell apart: replicas that average their own means.
TEST_CASE("the mean over all samples is not the mean of the replicas' means") {
    auto const data = samples(13);
    auto const all = first(13);
    std::span<std::size_t const> const chosen{all};
    auto const whole = gradient<one>(data, chosen), shared = gradient<several<2>>(data, chosen);
    auto const left = gradient<one>(data, chosen.first(9));
    auto const right = gradient<one>(data, chosen.subspan(9));
    std::vector<double> means(whole.size()), weighted(whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
        means[i] = (left[i] + right[i]) / 2;
        weighted[i] = (9 * left[i] + 4 * right[i]) / 13;
    }
    CHECK(largest_difference(shared, whole) < 1e-12);
    CHECK(largest_difference(weighted, whole) < 1e-12);
    CHECK(largest_difference(means, whole) > 1e-4);
}

TEST_CASE("a fit with validation is the same, epoch by epoch") {
    auto const data = samples(43), validation = samples(29);
    // Adam divides by small numbers
    CHECK(largest_difference(after_fit<one, 16>(data, validation),
                             after_fit<several<2>, 8>(data, validation)) < 1e-8);
}

TEST_CASE("NaN in the data of one replica ends the fit of all") {
    CHECK_THROWS_WITH_AS((after_fit<several<2>, 8>(samples_with_nan(43), samples(29))),
                         doctest::Contains("the loss is NaN or infinite after step"), cn::error);
}

TEST_CASE("what is set in the model between steps reaches all replicas") {
    auto const data = samples(16);
    cn::model<network, one, cn::batch<16>> a{cn::seed{5}};
    cn::model<network, several<2>, cn::batch<8>> b{cn::seed{5}};
    auto train_a = cn::compile(a, cn::cross_entropy, cn::sgd{});
    auto train_b = cn::compile(b, cn::cross_entropy, cn::sgd{});
    auto const both = [&](auto const& act) {
        act(a, train_a);
        act(b, train_b);
        CHECK(largest_difference(everything(a), everything(b)) < 1e-12);
    };
    both([&](auto&, auto& t) { t.step(data, first(16)); });
    both([&](auto& m, auto& t) {
        m.set("9.bias", std::vector<double>{1, 2, 3});
        t.step(data, first(16));
    });
    CHECK(train_a.evaluate(data).loss() == doctest::Approx(train_b.evaluate(data).loss()));
}

TEST_CASE("several trainings of a model go on from each other's parameters") {
    auto const data = samples(29);
    auto const expected = after_turns<one, 16>(data);
    CHECK(largest_difference(after_turns<several<2>, 8>(data), expected) < 1e-9);
    CHECK(largest_difference(after_turns<several<4>, 4>(data), expected) < 1e-9);
}

TEST_CASE("a step of more samples than all replicas take is refused") {
    auto const data = samples(64);
    cn::model<network, several<2>, cn::batch<8>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    CHECK(training.step_capacity() == 16);
    CHECK_THROWS_WITH_AS(training.step(data, first(17)),
                         "castnet: a step of at most 16 samples was given 17", cn::error);
}

#ifndef CASTNET_TEST_DEVICE
TEST_CASE("after a failure of a replica another training goes on") {
    auto fails = std::make_shared<std::atomic<bool>>(true);
    auto const data = cn::data::generated<cn::data::label<3>, cn::shape<2, 5, 5>>(
        64,
        [fails](std::size_t sample, auto x) {
            if (sample == 40 && *fails) {
                throw std::runtime_error{"not readable"};
            }
            std::ranges::fill(x, 1);
        },
        [](std::size_t, auto label) { label[0] = 2; });
    cn::model<linear, several<2>, cn::batch<8>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    CHECK_THROWS_WITH_AS(training.evaluate(data), doctest::Contains("not readable"), cn::error);
    *fails = false;
    CHECK_THROWS_WITH_AS(training.evaluate(data), doctest::Contains("compile another training"),
                         cn::error);
    CHECK(cn::compile(model, cn::cross_entropy, cn::sgd{}).evaluate(data).weight == 64);
}

TEST_CASE("what a sample throws reaches the caller as from one replica") {
    // What is said of sample 40, in the second epoch; `own`: by a function of the program.
    auto const said = []<class Policy>(Policy, bool own, auto const& call) {
        int reads = 0;
        auto const data = cn::data::generated<cn::data::label<3>, cn::shape<2, 5, 5>>(
            64,
            [&](std::size_t sample, auto x) {
                if (own && sample == 40 && ++reads == 2) {
                    throw std::out_of_range{"not readable"};
                }
                std::ranges::fill(x, 1);
            },
            [&](std::size_t sample, auto label) {
                label[0] = !own && sample == 40 && ++reads == 2 ? 7 : 2;
            });
        cn::model<linear, Policy, cn::batch<8>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        try {
            call(training, data);
        } catch (cn::sample_error const& e) {
            CHECK(own);
            CHECK(e.sample == 40);
            CHECK_THROWS_AS(std::rethrow_if_nested(e), std::out_of_range);
            return std::string{e.what()};
        } catch (cn::error const& e) {
            CHECK(!own);
            return std::string{e.what()};
        }
        return std::string{};
    };
    auto const fit = [](auto& training, auto const& data) {
        training.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent});
    };
    auto const evaluate = [](auto& training, auto const& data) {
        training.evaluate(data);
        training.evaluate(data);
    };
    for (bool const own : {true, false}) {
        auto const compare = [&](auto const& call) {
            auto const expected = said(one{}, own, call);
            CHECK(expected.find("sample 40") != expected.npos);
            CHECK(said(several<2>{}, own, call) == expected);
        };
        compare(fit);
        compare(evaluate);
    }
    CHECK(said(several<2>{}, true, fit) ==
          "castnet: fit: epoch 2: sample 40 of the data: not readable");
}

TEST_CASE("how many replicas there are may be known only when the program runs") {
    using some = cn::policy::mirrored<one>;
    auto const data = samples(64);
    cn::model<network, some, cn::batch<8>> three{cn::seed{5}, cn::devices{0, 1, 2}};
    cn::model<network, several<3>, cn::batch<8>> fixed{cn::seed{5}};
    cn::model<network, some, cn::batch<8>> all{cn::seed{5}};
    auto train_three = cn::compile(three, cn::cross_entropy, cn::adam{});
    auto train_fixed = cn::compile(fixed, cn::cross_entropy, cn::adam{});
    auto train_all = cn::compile(all, cn::cross_entropy, cn::adam{});
    CHECK(train_three.replica_count() == 3);
    CHECK(train_all.replica_count() == 1); // the CPU is one device
    train_three.step(data, first(20));
    train_fixed.step(data, first(20));
    CHECK(everything(three) == everything(fixed));
}
#endif

TEST_CASE("devices are as many as the policy runs on") {
    using model = cn::model<network, several<2>, cn::batch<8>>;
    CHECK_THROWS_WITH_AS((model{cn::seed{5}, cn::devices{0, 1, 2}}),
                         doctest::Contains("devices{…} names 3"), cn::error);
    using plain = cn::model<network, one, cn::batch<8>>;
    CHECK_THROWS_WITH_AS(
        (plain{cn::seed{5}, cn::devices{0, 1}}),
        "castnet: the policy runs on 1 device in a process, but devices{…} names 2", cn::error);
}
