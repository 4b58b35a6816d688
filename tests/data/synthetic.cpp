#include <castnet/data/synthetic.hpp>

#include <cmath>
#include <doctest/doctest.h>

using namespace castnet;

TEST_CASE("blobs are clouds around one centre per class") {
    auto const samples = data::blobs<3, 2>(3000, 1, 0.5);
    CHECK(samples.size() == 3000);
    double sum[3][2] = {}, squares[3][2] = {};
    for (size_t i = 0; i < samples.size(); ++i) {
        double point[2], target = 9;
        samples.copy_input(i, point);
        samples.copy_target(i, &target);
        REQUIRE(target == static_cast<double>(i % 3));
        for (int axis = 0; axis < 2; ++axis) {
            sum[i % 3][axis] += point[axis] / 1000;
            squares[i % 3][axis] += point[axis] * point[axis] / 1000;
        }
    }
    for (int c = 0; c < 3; ++c) {
        for (int axis = 0; axis < 2; ++axis) {
            CHECK(std::abs(sum[c][axis]) < 10.1);
            CHECK(std::sqrt(squares[c][axis] - sum[c][axis] * sum[c][axis]) ==
                  doctest::Approx(0.5).epsilon(0.1));
        }
    }
    CHECK(std::hypot(sum[0][0] - sum[1][0], sum[0][1] - sum[1][1]) > 1);
}

TEST_CASE("blobs: equal seeds, equal points; another part has the same centres") {
    auto const first = [](auto const& samples) {
        double point[2];
        samples.copy_input(0, point);
        return point[0];
    };
    auto const one = data::blobs<2, 2>(10, 1);
    CHECK(first(one) == first(data::blobs<2, 2>(20, 1)));
    CHECK(first(one) != first(data::blobs<2, 2>(10, 2)));
    CHECK(first(one) != first(data::blobs<2, 2>(10, 1, 1, 1)));
    CHECK(first(data::blobs<2, 2>(10, 1, 0)) == first(data::blobs<2, 2>(10, 1, 0, 1)));
}

TEST_CASE("linear is a plane, with noise where wanted") {
    auto const residual = [](double noise) {
        auto const samples = data::linear(1000, 3, {2.0F, -3.0F}, 0.5F, noise);
        double sum = 0;
        for (size_t i = 0; i < samples.size(); ++i) {
            double x[2], y = 0;
            samples.copy_input(i, x);
            samples.copy_target(i, &y);
            REQUIRE(std::abs(x[0]) <= 1);
            auto const left = y - (2 * x[0] - 3 * x[1] + 0.5);
            sum += left * left / 1000;
        }
        return std::sqrt(sum);
    };
    CHECK(residual(0) < 1e-6);
    CHECK(residual(0.2) == doctest::Approx(0.2).epsilon(0.1));
}
