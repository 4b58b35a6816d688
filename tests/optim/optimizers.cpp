// Every optimizer against PyTorch over six steps, in double.
#include <castnet/optim/optimizers.hpp>

#include "../golden.hpp"
#include "../golden_optimizers.hpp"

#include <array>
#include <utility>

namespace cn = castnet;
using check::values;

namespace {

struct as_in_pytorch {
    template <cn::Optimizer Optimizer>
    void operator()(std::string const& name, Optimizer const& optimizer) const {
        static check::golden_file const file{"optimizers"};
        check::close(name, check::parameters_of_steps(file, name, optimizer),
                     file[name + "/parameters"], 1e-14);
    }
};

} // namespace

TEST_CASE("every optimizer takes the steps of PyTorch's") {
    check::for_each_golden_optimizer(as_in_pytorch{});
}

namespace {

// 30 steps of an optimizer with one parameter of 1 and these gradients, in double.
template <class Optimizer>
values steps_of(Optimizer const& optimizer, values const& gradients) {
    std::array<double, std::size_t(Optimizer::slots)> state{};
    double p = 1;
    values found;
    for (std::size_t t = 1; t <= gradients.size(); ++t) {
        auto const rule = optimizer.template at<double>(t, optimizer.learning_rate);
        [&]<std::size_t... S>(std::index_sequence<S...>) {
            rule(p, gradients[t - 1], state[S]...);
        }(std::make_index_sequence<std::size_t(Optimizer::slots)>{});
        found.push_back(p);
    }
    return found;
}

values some_gradients() {
    values g;
    for (int t = 1; t <= 30; ++t) {
        g.push_back(std::sin(t * t) * (t < 12 ? 3 : 0.5));
    }
    return g;
}

} // namespace

// As the formulas of torch.optim's documentation and of the paper on Lion stand there.
TEST_CASE("AMSGrad, NAdam and Lion follow their definitions") {
    values const g = some_gradients();
    double m = 0, v = 0, most = 0, p = 1;
    values expected;
    for (std::size_t t = 1; t <= g.size(); ++t) {
        double const with_decay = g[t - 1] + 0.01 * p, n = double(t);
        m = 0.9 * m + 0.1 * with_decay;
        v = 0.999 * v + 0.001 * with_decay * with_decay;
        most = std::max(most, v);
        p -= 0.001 * (m / (1 - std::pow(0.9, n))) /
             (std::sqrt(most / (1 - std::pow(0.999, n))) + 1e-8);
        expected.push_back(p);
    }
    check::close("amsgrad", steps_of(cn::amsgrad{.weight_decay = 0.01}, g), expected, 1e-13);

    m = v = 0;
    p = 1;
    double product = 1;
    expected.clear();
    for (std::size_t t = 1; t <= g.size(); ++t) {
        double const n = double(t);
        double const now = 0.9 * (1 - 0.5 * std::pow(0.96, n * 0.004));
        double const next = 0.9 * (1 - 0.5 * std::pow(0.96, (n + 1) * 0.004));
        product *= now;
        m = 0.9 * m + 0.1 * g[t - 1];
        v = 0.999 * v + 0.001 * g[t - 1] * g[t - 1];
        double const mean = next * m / (1 - product * next) + (1 - now) * g[t - 1] / (1 - product);
        p -= 0.002 * mean / (std::sqrt(v / (1 - std::pow(0.999, n))) + 1e-8);
        expected.push_back(p);
    }
    check::close("nadam", steps_of(cn::nadam{}, g), expected, 1e-13);

    m = 0;
    p = 1;
    expected.clear();
    for (double const each : g) {
        double const c = 0.9 * m + 0.1 * each;
        p -= 1e-4 * ((c > 0 ? 1 : c < 0 ? -1 : 0) + 0.1 * p);
        m = 0.99 * m + 0.01 * each;
        expected.push_back(p);
    }
    check::close("lion", steps_of(cn::lion{.weight_decay = 0.1}, g), expected, 1e-13);
}

TEST_CASE("a gradient that is not a number is not lost") {
    values const g{0.5, std::nan(""), 0.5};
    CHECK(std::isnan(steps_of(cn::amsgrad{}, g).back()));
    CHECK(std::isnan(steps_of(cn::nadam{}, g).back()));
    CHECK(std::isnan(steps_of(cn::adamax{}, g).back()));
    CHECK(std::isnan(steps_of(cn::radam{}, g).back()));
    CHECK(std::isnan(steps_of(cn::lion{}, g).back()));
}

TEST_CASE("in float the first steps have the length that they should") {
    // Adam's and AdamW's first step is the learning rate whatever the gradient; so is RMSprop's,
    // times ten.
    auto const moved = []<class Optimizer>(Optimizer const& optimizer, auto&... state) {
        auto const rule = optimizer.template at<float>(1, optimizer.learning_rate);
        float parameter = 0;
        rule(parameter, 3.0F, state...);
        return doctest::Approx{-parameter / optimizer.learning_rate}.epsilon(1e-6);
    };
    float a = 0, b = 0;
    CHECK(moved(cn::adam{}, a, b) == 1);
    a = b = 0;
    CHECK(moved(cn::adamw{}, a, b) == 1);
    a = 0;
    CHECK(moved(cn::rmsprop{.epsilon = 0}, a) == 10);
    a = b = 0;
    float c = 0;
    CHECK(moved(cn::rmsprop_momentum{.epsilon = 0}, a, b, c) == 10);
}

TEST_CASE("every optimizer names its numbers, and those of the defaults are in range") {
    auto const names = [](auto const& optimizer) {
        auto const numbers = optimizer.hyperparameters();
        CHECK_NOTHROW(cn::detail::check_hyperparameters("it", numbers));
        return numbers.size();
    };
    CHECK(names(cn::sgd{}) == 2);
    CHECK(names(cn::momentum{}) == 4);
    CHECK(names(cn::rmsprop{}) == 4);
    CHECK(names(cn::rmsprop_momentum{}) == 6);
    CHECK(names(cn::adam{}) == 5);
    CHECK(names(cn::adamw{}) == 5);
    CHECK(names(cn::amsgrad{}) == 5);
    CHECK(names(cn::nadam{}) == 6);
    CHECK(names(cn::adamax{}) == 5);
    CHECK(names(cn::radam{}) == 5);
    CHECK(names(cn::lion{}) == 4);
    CHECK(names(cn::lamb{}) == 5);
    CHECK(names(cn::muon{}) == 12);
    CHECK(names(cn::adagrad{}) == 3);
    CHECK(names(cn::adadelta{}) == 4);
}
