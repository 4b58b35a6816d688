// LAMB.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/optim/adam.hpp>

#include <array>
#include <cstdint>

namespace castnet {

// LAMB (You et al. 2020), for large batches: the steps of adamw, of which each parameter takes one
// as long as its own norm times the learning rate. One whose norm or step is 0 takes adamw's.
// Not with strategy::sharded_optimizer.
struct lamb {
    double learning_rate = 1e-3;
    double beta_1 = 0.9;
    double beta_2 = 0.999;
    double epsilon = 1e-6;
    double weight_decay = 1e-2; // a part of the step, before its length is set
    static constexpr char const* name = "lamb";
    static constexpr int slots = 2;
    [[gnu::noinline]] auto hyperparameters() const { return as_adam().hyperparameters(); }
    static constexpr bool not_negative(int slot) { return slot == 1; }

    template <class T>
    struct rule {
        static constexpr bool by_parameter = true;
        castnet::adam::rule<T> base; // whose rate has the correction of the mean
        double rate;

        template <class V>
        CASTNET_HD V direction(V p, V g, V& mean, V& squares) const {
            mean += base.one_minus_beta_1 * (g - mean);
            squares += base.one_minus_beta_2 * (g * g - squares);
            return base.rate * mean / (square_root(squares) * base.root_correction + base.epsilon) +
                   base.decay * p;
        }
        CASTNET_HD void set_norms(double parameter, double direction) {
            rate *= parameter > 0 && direction > 0 ? parameter / direction : 1;
        }
        template <class V>
        CASTNET_HD void move(V& p, V direction, V&, V&) const {
            p -= T(rate) * direction;
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        return {as_adam().template at<T>(step, 1), rate};
    }

private:
    adam as_adam() const { return {learning_rate, beta_1, beta_2, epsilon, weight_decay}; }
};

static_assert(Optimizer<lamb>);

} // namespace castnet
