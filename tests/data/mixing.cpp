#include <castnet/castnet.hpp>
#include <castnet/data.hpp>

#include <doctest/doctest.h>
#include <numeric>
#include <span>
#include <vector>

using namespace castnet;
using namespace castnet::data;

namespace {

using images = dataset<label<3>, shape<2, 6, 8>>;

// Each image has one value, another one for every sample.
images plain_images(size_t count) {
    std::vector<float> x(count * 96);
    std::vector<int> labels(count);
    for (size_t i = 0; i < count; ++i) {
        std::fill_n(x.begin() + std::ptrdiff_t(96 * i), 96, float(i));
        labels[i] = int(i % 3);
    }
    return images{std::move(x), std::move(labels)};
}

template <class Data>
std::vector<float> input_of(Data const& data, size_t sample) {
    std::vector<float> x(Data::template input_shape<0>::count);
    data.copy_input(sample, x.data());
    return x;
}
template <class Data>
std::vector<float> target_of(Data const& data, size_t sample) {
    std::vector<float> y(3);
    data.copy_target(sample, y.data());
    return y;
}

} // namespace

TEST_CASE("shares have the distribution Beta(alpha, alpha)") {
    // SciPy's beta.cdf at 0.05, 0.2 and 0.4.
    struct {
        double alpha, cdf[3];
    } const expected[] = {{0.1, {0.37751, 0.43971, 0.48212}},
                          {0.4, {0.18004, 0.32254, 0.44520}},
                          {1, {0.05, 0.2, 0.4}},
                          {1.5, {0.01869, 0.14238, 0.37353}},
                          {8, {0.0000001, 0.00424, 0.21310}}};
    constexpr int draws = 20000;
    for (auto const& e : expected) {
        CAPTURE(e.alpha);
        castnet::data::detail::random_stream random{1, 2, 3};
        int below[3] = {};
        for (int i = 0; i < draws; ++i) {
            double const share = castnet::data::detail::beta(e.alpha, random);
            CHECK(share >= 0);
            CHECK(share <= 1);
            below[0] += share < 0.05;
            below[1] += share < 0.2;
            below[2] += share < 0.4;
        }
        for (int k = 0; k < 3; ++k) {
            double const deviation = std::sqrt(e.cdf[k] * (1 - e.cdf[k]) / draws);
            CHECK(std::abs(double(below[k]) / draws - e.cdf[k]) < 4 * deviation + 1e-4);
        }
    }
}

TEST_CASE("mixup adds shares of two samples, of inputs and targets alike") {
    auto const mixed = mixup(one_hot(plain_images(30)), 0.7);
    mixed.begin_epoch({.seed = 3, .number = 1});
    int others = 0;
    for (size_t i = 0; i < 30; ++i) {
        auto const x = input_of(mixed, i), y = target_of(mixed, i);
        CHECK(std::all_of(x.begin(), x.end(), [&](float v) { return v == x[0]; }));
        CHECK(y[0] + y[1] + y[2] == doctest::Approx(1));
        others += x[0] != float(i);
        // The share by the target; then the partner by the input.
        double const share = y[i % 3];
        if (share < 0.95 && share > 0.05) {
            double const partner = (x[0] - share * double(i)) / (1 - share);
            CHECK(partner == doctest::Approx(std::round(partner)).epsilon(1e-3));
            CHECK(y[size_t(std::round(partner)) % 3] == doctest::Approx(1 - share));
        }
    }
    CHECK(others > 20);
}

TEST_CASE("cutmix puts a rectangle of another image in, and mixes targets by its area") {
    auto const mixed = cutmix(one_hot(plain_images(30)));
    mixed.begin_epoch({.seed = 5, .number = 0});
    int cut = 0;
    for (size_t i = 0; i < 30; ++i) {
        auto const x = input_of(mixed, i), y = target_of(mixed, i);
        size_t top = 6, left = 8, bottom = 0, right = 0, changed = 0;
        float partner = float(i);
        for (size_t k = 0; k < 48; ++k) {
            CHECK(x[k] == x[48 + k]); // both channels alike
            if (x[k] != float(i)) {
                top = std::min(top, k / 8);
                bottom = std::max(bottom, k / 8 + 1);
                left = std::min(left, k % 8);
                right = std::max(right, k % 8 + 1);
                ++changed;
                partner = x[k];
            }
        }
        CHECK(changed == (changed == 0 ? 0 : (bottom - top) * (right - left)));
        cut += changed > 0 && changed < 48;
        if (changed > 0 && size_t(partner) % 3 != i % 3) {
            CHECK(y[i % 3] == doctest::Approx(1 - double(changed) / 48));
            CHECK(y[size_t(partner) % 3] == doctest::Approx(double(changed) / 48));
        }
    }
    CHECK(cut > 10);
}

TEST_CASE("mixtures depend on seed, epoch and sample alone") {
    auto const data = [] { return one_hot(plain_images(40)); };
    auto const mixed = mixup(data(), 0.4);
    auto const all = [&](std::uint64_t seed, std::uint64_t epoch) {
        mixed.begin_epoch({.seed = seed, .number = epoch});
        std::vector<std::vector<float>> x;
        for (size_t i = 40; i-- > 0;) {
            x.push_back(input_of(mixed, i));
        }
        return x;
    };
    auto const first = all(1, 0);
    CHECK(all(1, 1) != first);
    CHECK(all(2, 0) != first);
    CHECK(all(1, 0) == first);

    using net = sequential<input<2, 6, 8>, flatten, dense<3>>;
    auto const trained = [](auto const& set) {
        model<net, policy::cpu, batch<8>> m{seed{4}};
        auto training = compile(m, categorical_cross_entropy, adam{});
        training.fit(set, {.epochs = 3, .verbose = verbosity::silent});
        return m.get("1.weight");
    };
    auto const both = [&] { return cutmix(mixup(augment(data(), random_flip{}), 0.4)); };
    auto const expected = trained(both());
    for (unsigned const workers : {1U, 2U, 5U}) {
        CHECK(trained(prefetch(both(), {.workers = workers})) == expected);
    }

    // The steps of fit(), as a loop of one's own.
    auto const by_steps = [](auto const& set) {
        model<net, policy::cpu, batch<8>> m{seed{4}};
        auto training = compile(m, categorical_cross_entropy, adam{});
        std::vector<size_t> order(set.size());
        for (std::uint64_t number = 0; number < 3; ++number) {
            std::iota(order.begin(), order.end(), size_t{0});
            shuffle(order, 4, number);
            epoch_scope const now{set, {.seed = 4, .number = number, .order = order, .rows = 8}};
            for (size_t begin = 0; begin < order.size(); begin += 8) {
                training.step(set, std::span{order}.subspan(begin, 8));
            }
        }
        return m.get("1.weight");
    };
    CHECK(by_steps(both()) == expected);
    CHECK(by_steps(prefetch(both(), {.workers = 2})) == expected);
}

TEST_CASE("shares of the smallest and largest alpha are 0 or 1, or a half") {
    auto const data = one_hot(plain_images(20));
    for (double const alpha : {5e-324, 1e-310}) {
        auto const mixed = mixup(data, alpha);
        for (std::size_t i = 0; i < 20; ++i) {
            double const share = mixed.mixture_for(i).share;
            CHECK((share == 0 || share == 1));
        }
    }
    for (double const alpha : {1e308, std::numeric_limits<double>::max()}) {
        CHECK(mixup(data, alpha).mixture_for(3).share == doctest::Approx(0.5));
    }
}

TEST_CASE("alpha is a finite number above 0") {
    auto const data = one_hot(plain_images(3));
    CHECK_THROWS_WITH_AS(mixup(data, 0), doctest::Contains("data::mixup: found alpha 0"),
                         castnet::error);
    CHECK_THROWS_AS(cutmix(data, -1), castnet::error);
    CHECK_THROWS_AS(cutmix(data, std::numeric_limits<double>::infinity()), castnet::error);
}
