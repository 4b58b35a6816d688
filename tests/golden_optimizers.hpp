// The optimizers of tests/data/optimizers.safetensors, with the options that they have there, and
// the steps of optimizers with golden gradients.
#pragma once

#include <castnet/optim/optimizers.hpp>

#include "golden.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace check {

namespace cn = castnet;

// The parameters after each of six steps from name/parameter0, by name/gradients of the file.
template <cn::Optimizer Optimizer>
values parameters_of_steps(golden_file const& file, std::string const& name,
                           Optimizer const& optimizer) {
    values parameter = file[name + "/parameter0"], found;
    values const gradients = file[name + "/gradients"];
    std::size_t const n = parameter.size();
    std::vector<std::array<double, std::size_t(Optimizer::slots)>> state(n);
    for (std::size_t step = 0; step < 6; ++step) {
        auto const rule = optimizer.template at<double>(step + 1, optimizer.learning_rate);
        for (std::size_t i = 0; i < n; ++i) {
            [&]<std::size_t... S>(std::index_sequence<S...>) {
                rule(parameter[i], gradients[step * n + i], state[i][S]...);
            }(std::make_index_sequence<std::size_t(Optimizer::slots)>{});
        }
        found.insert(found.end(), parameter.begin(), parameter.end());
    }
    return found;
}

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
    f("adamax", cn::adamax{.weight_decay = 0.01});
    f("radam", cn::radam{.weight_decay = 0.01});
    f("radam_short", cn::radam{.beta_2 = 0.9});
    f("adagrad", cn::adagrad{});
    f("adadelta", cn::adadelta{});
}

} // namespace check
