// RMSprop without and with momentum.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/optim/optimizer.hpp>

#include <array>
#include <cstdint>

namespace castnet {

// RMSprop (Hinton's lecture 6e, 2012).
struct rmsprop {
    double learning_rate = 1e-2;
    double alpha = 0.99;
    double epsilon = 1e-8;
    double weight_decay = 0;
    static constexpr char const* name = "rmsprop";
    static constexpr int slots = 1;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"alpha", alpha, hyperparameter::below_one},
                                              {"epsilon", epsilon},
                                              {"weight_decay", weight_decay}});
    }
    static constexpr bool not_negative(int slot) { return slot == 0; }

    template <class T>
    struct rule {
        T rate, one_minus_alpha, epsilon, decay;
        template <class V>
        CASTNET_HD void operator()(V& p, V g, V& squares) const {
            g += decay * p;
            squares += one_minus_alpha * (g * g - squares);
            p -= rate * g / (square_root(squares) + epsilon);
        }
    };
    template <class T>
    rule<T> at(std::uint64_t, double rate) const {
        return {T(rate), T(1 - alpha), T(epsilon), T(weight_decay)};
    }
};

// RMSprop with momentum; centered: divides by the estimated variance (Graves 2013).
struct rmsprop_momentum {
    double learning_rate = 1e-2;
    double alpha = 0.99;
    double momentum = 0.9;
    bool centered = false;
    double epsilon = 1e-8;
    double weight_decay = 0;
    static constexpr char const* name = "rmsprop_momentum";
    static constexpr int slots = 3;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"learning_rate", learning_rate},
             {"alpha", alpha, hyperparameter::below_one},
             {"momentum", momentum, hyperparameter::below_one},
             {"centered", centered ? 1.0 : 0.0, hyperparameter::fraction},
             {"epsilon", epsilon},
             {"weight_decay", weight_decay}});
    }
    static constexpr bool not_negative(int slot) { return slot == 0; }

    template <class T>
    struct rule {
        T rate, one_minus_alpha, momentum, epsilon, decay;
        bool centered;
        template <class V>
        CASTNET_HD void operator()(V& p, V g, V& squares, V& mean, V& velocity) const {
            g += decay * p;
            squares += one_minus_alpha * (g * g - squares);
            mean += one_minus_alpha * (g - mean);
            V const variance = centered ? squares - mean * mean : squares;
            velocity = momentum * velocity + g / (square_root(variance) + epsilon);
            p -= rate * velocity;
        }
    };
    template <class T>
    rule<T> at(std::uint64_t, double rate) const {
        return {T(rate), T(1 - alpha), T(momentum), T(epsilon), T(weight_decay), centered};
    }
};

static_assert(Optimizer<rmsprop>);
static_assert(Optimizer<rmsprop_momentum>);

} // namespace castnet
