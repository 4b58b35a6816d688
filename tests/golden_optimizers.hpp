// The optimizers of tests/data/optimizers.safetensors, with the options that they have there.
#pragma once

#include <castnet/optim/optimizers.hpp>

namespace check {

namespace cn = castnet;

// Calls f(name in the file, optimizer) for each.
template <class F>
void for_each_golden_optimizer(F const& f) {
    f("sgd", cn::sgd{.learning_rate = 0.1});
    f("sgd_weight_decay", cn::sgd{.learning_rate = 0.1, .weight_decay = 0.01});
    f("sgd_momentum", cn::momentum{.learning_rate = 0.1});
    f("sgd_nesterov", cn::momentum{.learning_rate = 0.1, .nesterov = true});
    f("sgd_momentum_weight_decay", cn::momentum{.learning_rate = 0.1, .weight_decay = 0.01});
    f("rmsprop", cn::rmsprop{});
    f("rmsprop_momentum", cn::rmsprop_momentum{});
    f("rmsprop_centered", cn::rmsprop_momentum{.momentum = 0, .centered = true});
    f("adam", cn::adam{});
    f("adam_weight_decay", cn::adam{.weight_decay = 0.01});
    f("adamw", cn::adamw{});
    f("adagrad", cn::adagrad{});
    f("adadelta", cn::adadelta{});
}

} // namespace check
