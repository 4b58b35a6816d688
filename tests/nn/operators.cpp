// Operators of symbols in a user's function, beside the numbers that they stand for.
#include <castnet/castnet.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

namespace {

namespace cn = castnet;

struct of_symbols {
    constexpr auto operator()(auto x, auto y) const {
        auto const less = x<y, greater = x> y;
        return cn::stack<0>(less, x <= y, greater, x >= y, x == y, x != y);
    }
};
struct with_numbers {
    constexpr auto operator()(auto x, auto y) const {
        auto const negative = x<0, below = 1> y;
        return cn::stack<0>(negative, 0 <= x, below, y >= 1, x == 0, 0 != x);
    }
};
struct in_place {
    constexpr auto operator()(auto x, auto y) const {
        auto z = x;
        z += y;
        z *= 2;
        z -= x;
        z /= 4;
        return z;
    }
};

constexpr std::size_t wave_count = 603; // no multiple of a block
struct waves {
    constexpr auto operator()(auto x) const { return cn::sin(x) * 2 - cn::cos(3 * x); }
};

template <auto Function>
std::vector<float> of(std::vector<float> const& x, std::vector<float> const& y) {
    using net = cn::network<Function, cn::input<3>, cn::input<3>>;
    cn::model<net, cn::policy::cpu, cn::batch<1>> model;
    return model.predict(x, y);
}

} // namespace

TEST_CASE("comparisons of symbols are masks") {
    CHECK(of<of_symbols{}>({-1, 0, 2}, {0, 0, 1}) ==
          std::vector<float>{1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1});
    CHECK(of<with_numbers{}>({-1, 0, 2}, {0, 0, 1}) ==
          std::vector<float>{1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1});
}

TEST_CASE("sines and cosines in a network are those of numbers") {
    using numbers = cn::tensor<float, cn::shape<wave_count>>;
    numbers x;
    for (std::size_t i = 0; i < wave_count; ++i) {
        x(i) = 0.37F * float(i) - 100;
    }
    x(70) = 1e6F; // beyond what vectors take
    x(250) = -std::numeric_limits<float>::infinity();
    cn::model<cn::sequential<cn::input<wave_count>, waves{}>, cn::policy::cpu, cn::batch<1>> model;
    auto const y = model.predict(x);
    auto const slope = cn::grad([](auto t) { return cn::sum(cn::sin(t) - cn::cos(t)); }, x);
    auto const agree = [](float found, float expected) {
        return std::isnan(expected) ? std::isnan(found) : std::abs(found - expected) < 1e-6F;
    };
    for (std::size_t i = 0; i < wave_count; ++i) {
        CHECK(agree(y(i), cn::sin(x(i)) * 2 - cn::cos(3 * x(i))));
        CHECK(agree(slope(i), cn::cos(x(i)) + cn::sin(x(i))));
    }
}

TEST_CASE("sines have the same bits wherever a sample lies") {
    constexpr std::size_t samples = 7, size = 37;
    cn::model<cn::sequential<cn::input<size>, waves{}>, cn::policy::cpu, cn::batch<samples>> model;
    std::vector<float> x(size);
    for (std::size_t i = 0; i < size; ++i) {
        x[i] = 0.3F * float(i) - 5;
    }
    auto const alone = model.predict(x);
    std::vector<float> all;
    for (std::size_t i = 0; i < samples; ++i) {
        all.insert(all.end(), x.begin(), x.end());
    }
    auto const y = model.predict(all);
    for (std::size_t i = 0; i < y.size(); ++i) {
        CHECK(y[i] == alone[i % size]);
    }
}

TEST_CASE("a variable of a function changes in place") {
    CHECK(of<in_place{}>({-1, 0, 2}, {3, 4, 8}) == std::vector<float>{1.25F, 2, 4.5F});
}
