// The first values of parameters: their distributions, and that nothing but the seed and the place
// in the network decides them.
#include <castnet/castnet.hpp>

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

namespace cn = castnet;
using policy = cn::policy::basic_cpu<double>;

namespace {

template <auto Layer, std::size_t... D>
std::vector<double> weight(std::uint64_t seed = 1) {
    using network = cn::sequential<cn::input<D...>, Layer>;
    return cn::model<network, policy, cn::batch<1>>{cn::seed{seed}}.get("0.weight");
}

// 400 units of 100 features.
template <cn::initializer Start>
std::vector<double> large() {
    return weight<cn::dense<400>.init(Start), 100>();
}

double sobel(std::size_t i) {
    constexpr double filter[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    return filter[i];
}

double mean(std::vector<double> const& x) {
    double sum = 0;
    for (double v : x) {
        sum += v;
    }
    return sum / double(x.size());
}

// E |x|^n
double moment(std::vector<double> const& x, double n) {
    double sum = 0;
    for (double v : x) {
        sum += std::pow(std::fabs(v), n);
    }
    return sum / double(x.size());
}

double largest(std::vector<double> const& x) {
    double most = 0;
    for (double v : x) {
        most = std::max(most, std::fabs(v));
    }
    return most;
}

// Bounds that 40,000 numbers keep with certainty, for all that matters.
void is_uniform(std::vector<double> const& w, double limit) {
    CHECK(w.size() == 40'000);
    CHECK(largest(w) <= limit);
    CHECK(largest(w) > 0.999 * limit);
    CHECK(std::fabs(mean(w)) < 0.015 * limit);
    CHECK(moment(w, 2) == doctest::Approx(limit * limit / 3).epsilon(0.03));
    auto const negative = std::count_if(w.begin(), w.end(), [](double x) { return x < 0; });
    CHECK(double(negative) == doctest::Approx(20'000).epsilon(0.03));
}

void is_normal(std::vector<double> const& w, double deviation) {
    CHECK(w.size() == 40'000);
    CHECK(std::fabs(mean(w)) < 0.025 * deviation);
    CHECK(moment(w, 2) == doctest::Approx(deviation * deviation).epsilon(0.04));
    CHECK(moment(w, 4) == doctest::Approx(3 * std::pow(deviation, 4)).epsilon(0.1));
    CHECK(largest(w) > 3.5 * deviation);
    CHECK(largest(w) < 7 * deviation);
}

} // namespace

TEST_CASE("uniform distributions") {
    is_uniform(large<cn::random_uniform(0.25F)>(), 0.25);
    is_uniform(large<cn::glorot_uniform>(), std::sqrt(6.0 / 500));
    is_uniform(large<cn::he_uniform>(), std::sqrt(6.0 / 100));
    is_uniform(large<cn::lecun_uniform>(), std::sqrt(3.0 / 100));
}

TEST_CASE("normal distributions") {
    is_normal(large<cn::random_normal(0.5F)>(), 0.5);
    is_normal(large<cn::glorot_normal>(), std::sqrt(2.0 / 500));
    is_normal(large<cn::he_normal>(), std::sqrt(2.0 / 100));
    is_normal(large<cn::lecun_normal>(), std::sqrt(1.0 / 100));
}

TEST_CASE("constants, and the defaults of layers") {
    using network = cn::sequential<
        cn::input<2, 4, 4>,
        cn::conv2d<3, 3>.init(cn::constant_value(0.5F)).init_bias(cn::constant_value(-2)),
        cn::batch_norm, cn::flatten, cn::dense<4>>;
    cn::model<network, policy, cn::batch<1>> const model;
    CHECK(model.get("0.weight") == std::vector<double>(54, 0.5));
    CHECK(model.get("0.bias") == std::vector<double>(3, -2));
    CHECK(model.get("1.weight") == std::vector<double>(3, 1));
    CHECK(model.get("1.bias") == std::vector<double>(3, 0));
    CHECK(model.get("1.running_mean") == std::vector<double>(3, 0));
    CHECK(model.get("1.running_var") == std::vector<double>(3, 1));
    CHECK(model.get("3.bias") == std::vector<double>(4, 0));
    double const limit = std::sqrt(6.0 / (12 + 4)); // Glorot
    CHECK(largest(model.get("3.weight")) <= limit);
    CHECK(largest(model.get("3.weight")) > 0.8 * limit);
}

TEST_CASE("the fans of a convolution count the pixels of its kernel") {
    // in: 4 channels of a group * 3 * 3 pixels; out: 320 filters * 3 * 3
    auto const he =
        weight<cn::conv2d<320, 3, cn::conv{.groups = 2}>.init(cn::he_uniform), 8, 3, 3>();
    CHECK(largest(he) <= std::sqrt(6.0 / 36));
    CHECK(largest(he) > 0.999 * std::sqrt(6.0 / 36));
    auto const glorot =
        weight<cn::conv2d<320, 3, cn::conv{.groups = 2}>.init(cn::glorot_uniform), 8, 3, 3>();
    CHECK(largest(glorot) <= std::sqrt(6.0 / (36 + 2880)));
    CHECK(largest(glorot) > 0.999 * std::sqrt(6.0 / (36 + 2880)));
}

TEST_CASE("orthogonal rows, or columns where there are fewer") {
    auto const products = [](std::vector<double> const& w, std::size_t rows, bool of_rows) {
        std::size_t const columns = w.size() / rows;
        std::size_t const vectors = of_rows ? rows : columns, length = of_rows ? columns : rows;
        double worst = 0;
        for (std::size_t a = 0; a < vectors; ++a) {
            for (std::size_t b = 0; b < vectors; ++b) {
                double dot = 0;
                for (std::size_t i = 0; i < length; ++i) {
                    dot += of_rows ? w[a * columns + i] * w[b * columns + i]
                                   : w[i * columns + a] * w[i * columns + b];
                }
                worst = std::max(worst, std::fabs(dot - (a == b ? 4 : 0)));
            }
        }
        return worst;
    };
    CHECK(products(weight<cn::dense<10>.init(cn::orthogonal(2)), 30>(), 10, true) < 1e-12);
    CHECK(products(weight<cn::dense<30>.init(cn::orthogonal(2)), 10>(), 30, false) < 1e-12);
    CHECK(products(weight<cn::conv2d<8, 3>.init(cn::orthogonal(2)), 2, 4, 4>(), 8, true) < 1e-12);
}

TEST_CASE("a function gives the elements, in logical order") {
    constexpr auto numbers = cn::from_function<[](std::size_t i) { return i; }>;
    std::vector<double> expected(54);
    std::iota(expected.begin(), expected.end(), 0.0);
    CHECK(weight<cn::conv2d<3, 3>.init(numbers), 2, 5, 5>() == expected);
    CHECK(weight<cn::dense<3>.init(numbers), 18>() == expected);

    using edges = cn::sequential<cn::input<1, 3, 3>,
                                 cn::frozen<cn::conv2d<1, 3>.init(cn::from_function<sobel>)>,
                                 cn::flatten, cn::dense<1>>;
    cn::model<edges, policy, cn::batch<1>> model;
    model.set("2.weight", std::vector<double>{1});
    CHECK(model.predict(std::vector<double>{0, 0, 1, 0, 0, 1, 0, 0, 1})[0] == 4);
}

TEST_CASE("the order in memory does not matter") {
    constexpr auto start = cn::random_normal(1);
    auto const dense = weight<cn::dense<6>.init(start), 18>();
    CHECK(dense == weight<cn::conv2d<6, 3>.init(start), 2, 5, 5>());
    CHECK(dense == weight<cn::conv2d<6, 3, cn::conv{.groups = 3}>.init(start), 6, 5, 5>());
}

TEST_CASE("the seed and the parameter decide, in float as in double") {
    constexpr auto layer = cn::dense<20>;
    auto const one = weight<layer, 30>(1);
    CHECK(one == weight<layer, 30>(1));
    CHECK(one != weight<layer, 30>(2));
    CHECK(weight<layer, 30>(0) != weight<layer, 30>(std::uint64_t{1} << 32));

    using network = cn::sequential<cn::input<30>, cn::dense<20>, cn::dense<30>, cn::dense<20>>;
    cn::model<network, policy, cn::batch<1>> const model{cn::seed{1}};
    cn::model<network, cn::policy::cpu, cn::batch<64>> const floats{cn::seed{1}};
    auto const first = model.get("0.weight"), third = model.get("2.weight");
    CHECK(first == one);
    CHECK(first != third);
    auto const as_float = floats.get("0.weight");
    CHECK(std::equal(first.begin(), first.end(), as_float.begin(),
                     [](double d, float f) { return static_cast<float>(d) == f; }));
}

TEST_CASE("set and get are inverse, and name what does not fit") {
    using network = cn::sequential<cn::input<2, 4, 4>, cn::conv2d<4, 3, cn::conv{.groups = 2}>>;
    cn::model<network, policy, cn::batch<1>> model;
    std::vector<double> w(36);
    for (std::size_t i = 0; i < w.size(); ++i) {
        w[i] = double(i);
    }
    model.set("0.weight", w);
    CHECK(model.get("0.weight") == w);
    CHECK_THROWS_WITH_AS(model.set("0.weight", std::vector<double>(35)), doctest::Contains("36"),
                         cn::error);
    CHECK_THROWS_WITH_AS(model.get("1.weight"), doctest::Contains("1.weight"), cn::error);
    CHECK(model.get("0.weight") == w);
}
