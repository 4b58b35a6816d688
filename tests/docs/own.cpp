// Trainings with functions and operations of a program's own.
#include "own.hpp"

#include <doctest/doctest.h>

namespace {

// The loss before and after a training on whether a point lies near, further or far from (0, 0).
template <class Network>
void learns() {
    std::vector<float> points;
    std::vector<int> rings;
    for (int i = 0; i < 256; ++i) {
        float const x = float(i % 16) / 8 - 0.9375F, y = float(i / 16) / 8 - 0.9375F;
        points.insert(points.end(), {x, y});
        float const radius = x * x + y * y;
        rings.push_back(radius < 0.3F ? 0 : radius < 0.8F ? 1 : 2);
    }
    cn::data::dataset<cn::data::label<3>, cn::shape<2>> const data{points, rings};
    cn::model<Network, cn::policy::cpu, cn::batch<32>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.02F});
    double const before = training.evaluate(data).loss();
    training.fit(data, {.epochs = 40, .verbose = cn::verbosity::silent});
    CHECK(training.evaluate(data).loss() < before / 2);
}

} // namespace

TEST_CASE("networks with a function and an operation of the program's own learn") {
    CHECK(bell(0.5) == doctest::Approx(std::exp(-0.25)));
    learns<bells>();
    learns<sums>();
}
