// Metrics: what counts as right, and that ties and NaN never do.
#include <castnet/nn/metrics.hpp>

#include "harness.hpp"

#include <limits>
#include <string_view>

namespace cn = castnet;
using check::values, cn::input;

namespace {

template <auto Metric>
struct of_two {
    constexpr auto operator()(auto prediction, auto target) const {
        return Metric(prediction, target);
    }
};

// With names of their own, for nvcc 13.0.
struct of_labels : cn::network<of_two<cn::accuracy>{}, input<4>, input<>> {};
struct of_first_two : cn::network<of_two<cn::top_k<2>>{}, input<4>, input<>> {};
struct of_all_four : cn::network<of_two<cn::top_k<4>>{}, input<4>, input<>> {};
struct of_one_hot : cn::network<of_two<cn::categorical_accuracy>{}, input<4>, input<4>> {};
struct of_decisions : cn::network<of_two<cn::binary_accuracy>{}, input<4>, input<4>> {};

template <class Network>
double of(values const& prediction, values const& target) {
    auto r = check::layer_run::of<Network, false, 1>();
    r.set_input(prediction, 0);
    r.set_input(target, 1);
    r.run();
    return r.output()[0];
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
values const all_none{none, none, none, none};

} // namespace

TEST_CASE("accuracy: the label's output is larger than all others") {
    CHECK(of<of_labels>({0, 3, 1, 2}, {1}) == 1);
    CHECK(of<of_labels>({0, 3, 1, 2}, {3}) == 0);
    CHECK(of<of_labels>({-1, -2, -3, -4}, {0}) == 1);
    CHECK(of<of_labels>({0, infinity, 1, -infinity}, {1}) == 1);
    CHECK(of<of_labels>({1, 1, 1, 1}, {0}) == 0);
    CHECK(of<of_labels>({3, 3, 1, 2}, {0}) == 0);
    for (double const label : {0.0, 3.0}) {
        CHECK(of<of_labels>(all_none, {label}) == 0);
    }
    CHECK(of<of_labels>({none, 3, 1, 2}, {0}) == 0);
    CHECK(of<of_labels>({none, 3, 1, 2}, {1}) == 0);
}

TEST_CASE("top_k: fewer than K others are as large") {
    CHECK(of<of_first_two>({0, 3, 1, 2}, {1}) == 1);
    CHECK(of<of_first_two>({0, 3, 1, 2}, {3}) == 1);
    CHECK(of<of_first_two>({0, 3, 1, 2}, {2}) == 0);
    CHECK(of<of_first_two>({3, 3, 1, 2}, {0}) == 1);
    CHECK(of<of_first_two>({2, 3, 1, 2}, {0}) == 0);
    CHECK(of<of_first_two>({1, 1, 1, 1}, {0}) == 0);
    CHECK(of<of_first_two>(all_none, {0}) == 0);
    CHECK(of<of_first_two>({none, 3, 1, 2}, {1}) == 1);
    CHECK(of<of_first_two>({none, 3, 1, 2}, {3}) == 0);
    CHECK(of<of_all_four>({1, 1, 1, 1}, {2}) == 1);
}

TEST_CASE("categorical_accuracy: the same where the target is one-hot or probabilities") {
    CHECK(of<of_one_hot>({0, 3, 1, 2}, {0, 1, 0, 0}) == 1);
    CHECK(of<of_one_hot>({0, 3, 1, 2}, {0, 0, 0, 1}) == 0);
    CHECK(of<of_one_hot>({0, 3, 1, 2}, {0.2, 0.4, 0.3, 0.1}) == 1);
    CHECK(of<of_one_hot>({1, 1, 1, 1}, {1, 0, 0, 0}) == 0);
    CHECK(of<of_one_hot>(all_none, {1, 0, 0, 0}) == 0);
}

TEST_CASE("binary_accuracy: positive where the target is 1, negative where it is 0") {
    CHECK(of<of_decisions>({3, -2, 1, -1}, {1, 0, 0, 1}) == 0.5);
    CHECK(of<of_decisions>({3, -2, 1, -1}, {0.9, 0.1, 0.6, 0.5}) == 1);
    CHECK(of<of_decisions>({0, 0, 0, 0}, {1, 0, 1, 0}) == 0);
    CHECK(of<of_decisions>(all_none, {1, 0, 1, 0}) == 0);
}

TEST_CASE("every metric has a name of its own") {
    CHECK(std::string_view{decltype(cn::top_k<5>)::name} == "top_5");
    CHECK(std::string_view{decltype(cn::top_k<10>)::name} == "top_10");
    CHECK(std::string_view{decltype(cn::categorical_accuracy)::name} == "categorical_accuracy");
    CHECK(std::string_view{decltype(cn::binary_accuracy)::name} == "binary_accuracy");
}
