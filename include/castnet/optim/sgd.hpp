// Stochastic gradient descent without and with momentum.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/optim/optimizer.hpp>

#include <array>
#include <cstdint>

namespace castnet {

// Stochastic gradient descent: parameter -= rate * gradient.
struct sgd {
    double learning_rate = 1e-2;
    double weight_decay = 0;
    static constexpr char const* name = "sgd";
    static constexpr int slots = 0;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"learning_rate", learning_rate}, {"weight_decay", weight_decay}});
    }

    template <class T>
    struct rule {
        T rate, decay;
        template <class V>
        CASTNET_HD void operator()(V& p, V g) const {
            p -= rate * (g + decay * p);
        }
        bool is_lazy() const { return decay == 0; }
    };
    template <class T>
    rule<T> at(std::uint64_t, double rate) const {
        return {T(rate), T(weight_decay)};
    }
};

// SGD with momentum (Polyak 1964) or Nesterov's variant as in Sutskever et al. 2013.
struct momentum {
    double learning_rate = 1e-2;
    double momentum = 0.9;
    bool nesterov = false;
    double weight_decay = 0;
    static constexpr char const* name = "momentum";
    static constexpr int slots = 1;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"learning_rate", learning_rate},
             {"momentum", momentum, hyperparameter::below_one},
             {"nesterov", nesterov ? 1.0 : 0.0, hyperparameter::fraction},
             {"weight_decay", weight_decay}});
    }

    template <class T>
    struct rule {
        T rate, keep, decay;
        bool ahead;
        template <class V>
        CASTNET_HD void operator()(V& p, V g, V& velocity) const {
            g += decay * p;
            velocity = keep * velocity + g;
            p -= rate * (ahead ? g + keep * velocity : velocity);
        }
    };
    template <class T>
    rule<T> at(std::uint64_t, double rate) const {
        return {T(rate), T(momentum), T(weight_decay), nesterov};
    }
};

static_assert(Optimizer<sgd>);
static_assert(Optimizer<momentum>);

} // namespace castnet
