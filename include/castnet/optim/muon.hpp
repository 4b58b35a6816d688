// Muon.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/optim/adam.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace castnet {

// Muon (Jordan 2024; PyTorch's Muon and AdamW together): weights of dense, recurrent and
// convolutional layers and of attention move by their momentum, made orthogonal (of a convolution
// as the matrix of filters by all else); all other parameters, such as biases, scales and
// embeddings, by AdamW. So should the weights of the last layer, which the program names:
//   groups(muon{}, parameter_group{.names = "head.*", .orthogonal = false})
// Not with strategy::sharded_optimizer.
struct muon {
    double learning_rate = 1e-3;
    double momentum = 0.95;
    double weight_decay = 0.1; // decoupled, of all parameters
    bool nesterov = true;
    int steps = orthogonalization::usual_steps; // 5, of Newton and Schulz
    double epsilon = 1e-7;
    // The rate of a weight is the learning rate times sqrt(max(1, rows / columns)); or, for rates
    // such as AdamW's, times 0.2 sqrt(max(rows, columns)) (Liu et al. 2025).
    bool rate_of_adamw = false;
    double adamw_rate = 1; // of the others, times the learning rate
    double beta_1 = 0.9;
    double beta_2 = 0.999;
    double adamw_epsilon = 1e-8;
    bool orthogonal = true; // false: all parameters move by AdamW
    static constexpr char const* name = "muon";
    static constexpr int slots = 2;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"momentum", momentum, hyperparameter::below_one},
                                              {"weight_decay", weight_decay},
                                              {"nesterov", double(nesterov)},
                                              {"steps", double(steps)},
                                              {"epsilon", epsilon},
                                              {"rate_of_adamw", double(rate_of_adamw)},
                                              {"adamw_rate", adamw_rate},
                                              {"beta_1", beta_1, hyperparameter::below_one},
                                              {"beta_2", beta_2, hyperparameter::below_one},
                                              {"adamw_epsilon", adamw_epsilon},
                                              {"orthogonal", double(orthogonal)}});
    }
    static constexpr bool not_negative(int slot) { return slot == 1; }

    template <class T>
    struct rule {
        static constexpr bool by_parameter = true;
        castnet::adam::rule<T> adam;          // its rate has the correction of the mean
        T one_minus_momentum, gradients_part; // of the direction, beside the momentum's
        double rate, others_rate, weight_decay;
        orthogonalization weights;
        bool rate_of_adamw, orthogonal;
        bool is_weight = false;

        CASTNET_HD void begin(std::ptrdiff_t rows, std::ptrdiff_t columns) {
            is_weight = orthogonal && rows > 0;
            rate = is_weight ? rate : others_rate;
            adam.shrink = T(1 - rate * weight_decay);
            if (is_weight) {
                double const r = double(rows), c = double(columns);
                rate *= rate_of_adamw ? 0.2 * square_root(r > c ? r : c)
                                      : square_root(r > c ? r / c : 1.0);
            }
        }
        template <class V>
        CASTNET_HD V direction(V, V g, V& mean, V& squares) const {
            if (is_weight) {
                mean += one_minus_momentum * (g - mean);
                return mean + gradients_part * (g - mean);
            }
            mean += adam.one_minus_beta_1 * (g - mean);
            squares += adam.one_minus_beta_2 * (g * g - squares);
            return adam.rate * mean / (square_root(squares) * adam.root_correction + adam.epsilon);
        }
        orthogonalization between() const { return is_weight ? weights : orthogonalization{}; }
        template <class V>
        CASTNET_HD void move(V& p, V direction, V&, V&) const {
            p = adam.shrink * p - T(rate) * direction;
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        adam const others{learning_rate, beta_1, beta_2, adamw_epsilon};
        return {others.template at<T>(step, 1),
                T(1 - momentum),
                T(nesterov ? 1 - momentum : 0),
                rate,
                rate * adamw_rate,
                weight_decay,
                {steps, epsilon},
                rate_of_adamw,
                orthogonal};
    }
};

static_assert(Optimizer<muon>);

} // namespace castnet
