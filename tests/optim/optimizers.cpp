// Every optimizer against PyTorch over six steps, in double.
#include <castnet/optim/optimizers.hpp>

#include "../golden.hpp"

#include <array>
#include <utility>

namespace cn = castnet;
using check::values;

namespace {

template <class Optimizer>
void golden(std::string const& name, Optimizer const& optimizer) {
    static check::golden_file const file{"optimizers"};
    values parameter = file[name + "/parameter0"];
    values const gradients = file[name + "/gradients"], expected = file[name + "/parameters"];
    std::size_t const n = parameter.size();
    std::vector<std::array<double, std::size_t(Optimizer::slots)>> state(n);
    values found;
    for (std::size_t step = 0; step < 6; ++step) {
        auto const rule = optimizer.template at<double>(step + 1, optimizer.learning_rate);
        for (std::size_t i = 0; i < n; ++i) {
            [&]<std::size_t... S>(std::index_sequence<S...>) {
                rule(parameter[i], gradients[step * n + i], state[i][S]...);
            }(std::make_index_sequence<std::size_t(Optimizer::slots)>{});
        }
        found.insert(found.end(), parameter.begin(), parameter.end());
    }
    check::close(name, found, expected, 1e-14);
}

} // namespace

TEST_CASE("sgd") {
    golden("sgd", cn::sgd{.learning_rate = 0.1});
    golden("sgd_weight_decay", cn::sgd{.learning_rate = 0.1, .weight_decay = 0.01});
}

TEST_CASE("momentum") {
    golden("sgd_momentum", cn::momentum{.learning_rate = 0.1});
    golden("sgd_nesterov", cn::momentum{.learning_rate = 0.1, .nesterov = true});
    golden("sgd_momentum_weight_decay", cn::momentum{.learning_rate = 0.1, .weight_decay = 0.01});
}

TEST_CASE("rmsprop") {
    golden("rmsprop", cn::rmsprop{});
    golden("rmsprop_momentum", cn::rmsprop_momentum{});
    golden("rmsprop_centered", cn::rmsprop_momentum{.momentum = 0, .centered = true});
}

TEST_CASE("adam and adamw") {
    golden("adam", cn::adam{});
    golden("adam_weight_decay", cn::adam{.weight_decay = 0.01});
    golden("adamw", cn::adamw{});
}

TEST_CASE("adagrad and adadelta") {
    golden("adagrad", cn::adagrad{});
    golden("adadelta", cn::adadelta{});
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
