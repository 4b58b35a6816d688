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
};

} // namespace

TEST_CASE("every optimizer takes the steps of PyTorch's") {
    check::for_each_golden_optimizer(as_in_pytorch{});
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
    CHECK(names(cn::adagrad{}) == 3);
    CHECK(names(cn::adadelta{}) == 4);
}
