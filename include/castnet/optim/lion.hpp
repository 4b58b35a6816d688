// Lion.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/optim/optimizer.hpp>

#include <array>
#include <cstdint>

namespace castnet {

// Lion (Chen et al. 2023): steps of one length, in the direction of the momentum's signs. The
// weight decay is decoupled, as in adamw.
struct lion {
    double learning_rate = 1e-4;
    double beta_1 = 0.9;
    double beta_2 = 0.99;
    double weight_decay = 0;
    static constexpr char const* name = "lion";
    static constexpr int slots = 1;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"beta_1", beta_1, hyperparameter::below_one},
                                              {"beta_2", beta_2, hyperparameter::below_one},
                                              {"weight_decay", weight_decay}});
    }

    template <class T>
    struct rule {
        T rate, one_minus_beta_1, one_minus_beta_2;
        T shrink; // 1 - rate * weight decay
        template <class V>
        CASTNET_HD void operator()(V& p, V g, V& mean) const {
            V const direction = mean + one_minus_beta_1 * (g - mean), zero{}, one = zero + T(1);
            V const length = (direction > zero ? one : zero) - (direction < zero ? one : zero);
            p = shrink * p - rate * (direction == direction ? length : direction); // NaN stays
            mean += one_minus_beta_2 * (g - mean);
        }
    };
    template <class T>
    rule<T> at(std::uint64_t, double rate) const {
        return {T(rate), T(1 - beta_1), T(1 - beta_2), T(1 - rate * weight_decay)};
    }
};

static_assert(Optimizer<lion>);

} // namespace castnet
