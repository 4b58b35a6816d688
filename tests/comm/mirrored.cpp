// N replicas with batch<B> take the steps of one with batch<N * B>.
#include <castnet/policy/mirrored.hpp>

#include "replicas.hpp"

#include <doctest/doctest.h>

using namespace replicas_test;

namespace {

using one = cn::policy::basic_cpu<double>;
template <int N>
using several = cn::policy::mirrored<one, N>;

template <class Check>
void for_each_count(Check const& check) {
    check(std::integral_constant<int, 1>{});
    check(std::integral_constant<int, 2>{});
    check(std::integral_constant<int, 3>{});
    check(std::integral_constant<int, 4>{});
    check(std::integral_constant<int, 8>{});
}

} // namespace

TEST_CASE("replicas take the same steps as one with the whole batch") {
    auto const data = samples(64);
    for_each_count([&](auto n) {
        // full, a little less, fewer samples than replicas
        for (std::size_t count : {std::size_t(n) * 8, std::size_t(n) * 8 - 3, std::size_t{3}}) {
            CAPTURE(n());
            CAPTURE(count);
            CHECK(largest_difference(after_steps<several<n()>, 8>(data, first(count)),
                                     after_steps<one, 64>(data, first(count))) < 1e-12);
        }
    });
}

TEST_CASE("weights of samples and classes are those of the whole batch") {
    std::vector<float> weights(13);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i] = float(i % 4) * 0.5F; // some 0
    }
    auto const data = samples(13).with_weights(weights);
    for_each_count([&](auto n) {
        if constexpr (n() > 1) {
            CAPTURE(n());
            CHECK(largest_difference(after_steps<several<n()>, 8>(data, first(13), {1, 0.5F, 2}),
                                     after_steps<one, 64>(data, first(13), {1, 0.5F, 2})) < 1e-12);
        }
    });
}

// What the tests of uneven shares must tell apart: replicas that average their own means.
TEST_CASE("the mean over all samples is not the mean of the replicas' means") {
    using linear = cn::sequential<cn::input<2, 5, 5>, cn::flatten, cn::dense<3>>;
    auto const data = samples(13);
    auto const all = first(13);
    auto const gradient = [&]<class Where>(Where, std::span<std::size_t const> chosen) {
        cn::model<linear, Where, cn::batch<13>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        training.step(data, chosen);
        return training.gradient("1.weight");
    };
    std::span<std::size_t const> const chosen{all};
    auto const whole = gradient(one{}, chosen), shared = gradient(several<2>{}, chosen);
    auto const left = gradient(one{}, chosen.first(9)), right = gradient(one{}, chosen.subspan(9));
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
    auto const run = [&](auto& model) {
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
    };
    cn::model<network, one, cn::batch<16>> whole{cn::seed{5}};
    cn::model<network, several<2>, cn::batch<8>> shared{cn::seed{5}};
    CHECK(largest_difference(run(whole), run(shared)) < 1e-8); // Adam divides by small numbers
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

TEST_CASE("a step of more samples than all replicas take is refused") {
    auto const data = samples(64);
    cn::model<network, several<2>, cn::batch<8>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    CHECK(training.step_capacity() == 16);
    CHECK_THROWS_WITH_AS(training.step(data, first(17)),
                         "castnet: a step of at most 16 samples was given 17", cn::error);
}
