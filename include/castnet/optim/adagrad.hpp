// Adagrad and Adadelta.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/optim/optimizer.hpp>

#include <array>
#include <cstdint>

namespace castnet {

// Adagrad (Duchi et al. 2011).
struct adagrad {
    double learning_rate = 1e-2;
    double epsilon = 1e-10;
    double weight_decay = 0;
    static constexpr char const* name = "adagrad";
    static constexpr int slots = 1;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"epsilon", epsilon},
                                              {"weight_decay", weight_decay}});
    }
    static constexpr bool not_negative(int slot) { return slot == 0; }

    template <class T>
    struct rule {
        T rate, epsilon, decay;
        template <class V>
        CASTNET_HD void operator()(V& p, V g, V& sum) const {
            g += decay * p;
            sum += g * g;
            p -= rate * g / (square_root(sum) + epsilon);
        }
        bool is_lazy() const { return decay == 0 && epsilon > 0; }
    };
    template <class T>
    rule<T> at(std::uint64_t, double rate) const {
        return {T(rate), T(epsilon), T(weight_decay)};
    }
};

// Adadelta (Zeiler 2012).
struct adadelta {
    double learning_rate = 1;
    double rho = 0.9;
    double epsilon = 1e-6;
    double weight_decay = 0;
    static constexpr char const* name = "adadelta";
    static constexpr int slots = 2;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"rho", rho, hyperparameter::below_one},
                                              {"epsilon", epsilon},
                                              {"weight_decay", weight_decay}});
    }
    static constexpr bool not_negative(int) { return true; }

    template <class T>
    struct rule {
        T rate, one_minus_rho, epsilon, decay;
        template <class V>
        CASTNET_HD void operator()(V& p, V g, V& squares, V& moved) const {
            g += decay * p;
            squares += one_minus_rho * (g * g - squares);
            V const delta = square_root(moved + epsilon) / square_root(squares + epsilon) * g;
            moved += one_minus_rho * (delta * delta - moved);
            p -= rate * delta;
        }
    };
    template <class T>
    rule<T> at(std::uint64_t, double rate) const {
        return {T(rate), T(1 - rho), T(epsilon), T(weight_decay)};
    }
};

static_assert(Optimizer<adagrad>);
static_assert(Optimizer<adadelta>);

} // namespace castnet
