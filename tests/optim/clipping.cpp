// Clipped gradients: the steps of PyTorch's clip_grad_norm_ and clip_grad_value_ before an
// optimizer's, computed in double.
#include <castnet/optim/clipping.hpp>
#include <castnet/optim/optimizers.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

namespace cn = castnet;

namespace {

doctest::Approx about(double x) {
    return doctest::Approx{x}.epsilon(1e-14);
}
constexpr double infinity = std::numeric_limits<double>::infinity();

// An optimizer of one's own, for single numbers only.
struct sign_descent {
    double learning_rate = 0.1;
    static constexpr char const* name = "sign_descent";
    static constexpr int slots = 0;

    template <class T>
    struct rule {
        T rate;
        void operator()(T& p, T g) const { p -= g > 0 ? rate : -rate; }
    };
    template <class T>
    rule<T> at(std::uint64_t, double rate) const {
        return {T(rate)};
    }
};

using clipped_sign_descent = decltype(cn::clip_norm(sign_descent{}, 1));
static_assert(cn::detail::Updates<clipped_sign_descent::rule<float>, float>);
typedef float four_floats __attribute__((vector_size(16)));
static_assert(!cn::detail::Updates<clipped_sign_descent::rule<float>, four_floats>);
static_assert(cn::detail::Updates<cn::norm_clipped<cn::sgd>::rule<float>, four_floats>);

} // namespace

TEST_CASE("clip_norm takes the steps of PyTorch's clip_grad_norm_") {
    auto const optimizer = cn::clip_norm(cn::momentum{.learning_rate = 0.1}, 2);
    CHECK(optimizer.learning_rate == 0.1);
    double const gradients[3][4] = {{3, 0, -4, 12}, {0.1, -0.2, 0.2, 0.4}, {-6, 8, 0, 0}};
    double const expected[3][4] = {
        {0.9538461573964494, -2.0, 0.5615384568047341, 2.8153846295857976},
        {0.9023076990532539, -1.98, 0.5969230679289949, 2.6092307962130157},
        {0.9759230745443791, -2.1219999840000017, 0.6287692179408295, 2.423692346177512}};
    double p[4] = {1, -2, 0.5, 3}, velocity[4]{};
    for (int step = 0; step < 3; ++step) {
        double squares = 0;
        for (double g : gradients[step]) {
            squares += g * g;
        }
        auto const rule = optimizer.at<double>(std::uint64_t(step + 1), optimizer.learning_rate)
                              .with_norm(std::sqrt(squares));
        for (int i = 0; i < 4; ++i) {
            rule(p[i], gradients[step][i], velocity[i]);
            CHECK(p[i] == about(expected[step][i]));
        }
    }
}

TEST_CASE("clip_value takes the steps of PyTorch's clip_grad_value_") {
    auto const optimizer = cn::clip_value(cn::adam{}, 0.5);
    double const gradients[] = {2, -0.25, -3};
    double const expected[] = {0.99900000002, 0.9987336629870784, 0.9990063597717275};
    double p = 1, mean = 0, square = 0;
    for (int step = 0; step < 3; ++step) {
        auto const rule = optimizer.at<double>(std::uint64_t(step + 1), optimizer.learning_rate);
        rule(p, gradients[step], mean, square);
        CHECK(p == about(expected[step]));
    }
}

TEST_CASE("weight decay of the optimizer is not clipped") {
    auto const optimizer = cn::clip_value(cn::sgd{.learning_rate = 1, .weight_decay = 0.5}, 1);
    double p = 8;
    optimizer.at<double>(1, 1)(p, 100.0);
    CHECK(p == 8 - (1 + 0.5 * 8));
}

TEST_CASE("gradients that are no finite numbers are those of PyTorch's functions") {
    auto const after = [](auto const& rule, double g) {
        double p = 0;
        rule(p, g);
        return p;
    };
    auto const rule = cn::clip_norm(cn::sgd{}, 1).at<double>(1, 1);
    CHECK(after(rule.with_norm(infinity), 3.0) == 0);
    CHECK(std::isnan(after(rule.with_norm(infinity), infinity)));
    CHECK(std::isnan(after(rule.with_norm(std::nan("")), 3.0)));
    CHECK(after(rule.with_norm(0), 0.0) == 0);
    auto const value = cn::clip_value(cn::sgd{}, 1).at<double>(1, 1);
    CHECK(after(value, -infinity) == 1);
    CHECK(std::isnan(after(value, std::nan(""))));
}

TEST_CASE("a checkpoint tells what is clipped by the optimizer's name") {
    using by_norm = decltype(cn::clip_norm(cn::adam{}, 1));
    using by_value = decltype(cn::clip_value(cn::sgd{}, 1));
    CHECK(by_norm::name == std::string("clip_norm(adam)"));
    CHECK(by_value::name == std::string("clip_value(sgd)"));
    CHECK(clipped_sign_descent::name == std::string("clip_norm(sign_descent)"));
    static_assert(by_norm::slots == cn::adam::slots && clipped_sign_descent::slots == 0);
}

TEST_CASE("a limit is a finite number above 0") {
    CHECK_THROWS_WITH_AS(
        cn::clip_norm(cn::sgd{}, 0),
        "castnet: clip_norm: the largest norm is 0, expected a finite number above 0", cn::error);
    CHECK_THROWS_WITH_AS(
        cn::clip_value(cn::sgd{}, -1),
        "castnet: clip_value: the largest value is -1, expected a finite number above 0",
        cn::error);
    CHECK_THROWS_AS(cn::clip_norm(cn::sgd{}, infinity), cn::error);
    CHECK_THROWS_AS(cn::clip_norm(cn::sgd{}, std::nan("")), cn::error);
}
