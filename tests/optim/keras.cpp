// Optimizers and schedules against Keras, with the numbers that the guide gives for it.
#include <castnet/optim/optimizers.hpp>
#include <castnet/optim/schedules.hpp>

#include "../golden.hpp"
#include "../golden_optimizers.hpp"

namespace cn = castnet;
using check::values;

namespace {

check::golden_file const& golden() {
    static check::golden_file const file{"keras"};
    return file;
}

template <cn::Optimizer Optimizer>
void takes_the_steps_of(std::string const& name, Optimizer const& optimizer) {
    CAPTURE(name);
    std::string const from = "optimizers/" + name;
    check::close(name, check::parameters_of_steps(golden(), from, optimizer),
                 golden()[from + "/parameters"], 1e-13);
}

void has_the_rates_of(std::string const& name, cn::schedule const& rate) {
    values found;
    for (std::uint64_t step = 0; step < 40; ++step) {
        found.push_back(rate(step, 40));
    }
    check::close(name, found, golden()["schedules/" + name + "/rates"], 2e-9); // of float
}

} // namespace

// Where Keras adds epsilon elsewhere, it is 0 here.
TEST_CASE("optimizers take the steps of Keras's") {
    takes_the_steps_of("sgd", cn::sgd{.learning_rate = 0.1});
    takes_the_steps_of("sgd_momentum", cn::momentum{.learning_rate = 0.1});
    takes_the_steps_of("sgd_nesterov", cn::momentum{.learning_rate = 0.1, .nesterov = true});
    takes_the_steps_of("rmsprop", cn::rmsprop{.learning_rate = 1e-3, .alpha = 0.9, .epsilon = 0});
    takes_the_steps_of("rmsprop_momentum",
                       cn::rmsprop_momentum{.learning_rate = 1e-3, .alpha = 0.9, .epsilon = 0});
    takes_the_steps_of(
        "rmsprop_centered",
        cn::rmsprop_momentum{
            .learning_rate = 1e-3, .alpha = 0.9, .momentum = 0, .centered = true, .epsilon = 0});
    takes_the_steps_of("adam", cn::adam{.epsilon = 0});
    takes_the_steps_of("adamw", cn::adamw{.epsilon = 0, .weight_decay = 4e-3});
    takes_the_steps_of("amsgrad", cn::amsgrad{.epsilon = 0});
    takes_the_steps_of("nadam",
                       cn::nadam{.learning_rate = 1e-3, .epsilon = 1e-7, .momentum_decay = 1});
    takes_the_steps_of("lion", cn::lion{.learning_rate = 1e-3});
    takes_the_steps_of("adagrad", cn::adagrad{.learning_rate = 1e-3, .epsilon = 0});
    takes_the_steps_of("adadelta",
                       cn::adadelta{.learning_rate = 1e-3, .rho = 0.95, .epsilon = 1e-7});
}

TEST_CASE("schedules have the rates of Keras's") {
    has_the_rates_of("cosine_decay", cn::cosine_decay(1e-2));
    has_the_rates_of("cosine_decay_floor", cn::cosine_decay(1e-2, 1e-3));
    has_the_rates_of("cosine_restarts", cn::cosine_restarts(1e-2, 10, 2));
    has_the_rates_of("cosine_restarts_equal", cn::cosine_restarts(1e-2, 10));
    has_the_rates_of("polynomial_decay", cn::polynomial_decay(1e-2, 1e-4, 2));
    has_the_rates_of("exponential_decay", cn::exponential_decay(1e-2, 0.5, 10));
    has_the_rates_of("step_decay", cn::step_decay(1e-2, 0.5, 10));
}
