// Adam and its variants AdamW, AMSGrad, Nadam, Adamax and RAdam.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/optim/optimizer.hpp>

#include <array>
#include <cmath>
#include <cstdint>

namespace castnet {

// Adam (Kingma & Ba 2015).
struct adam {
    double learning_rate = 1e-3;
    double beta_1 = 0.9;
    double beta_2 = 0.999;
    double epsilon = 1e-8; // Keras: 1e-7
    double weight_decay = 0;
    static constexpr char const* name = "adam";
    static constexpr int slots = 2;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"beta_1", beta_1, hyperparameter::below_one},
                                              {"beta_2", beta_2, hyperparameter::below_one},
                                              {"epsilon", epsilon},
                                              {"weight_decay", weight_decay}});
    }
    static constexpr bool not_negative(int slot) { return slot == 1; }

    template <class T>
    struct rule {
        T rate, epsilon, decay;
        T one_minus_beta_1, one_minus_beta_2;
        T shrink;          // 1 - rate * decoupled decay
        T root_correction; // of the square root of the second moment
        template <class V>
        CASTNET_HD void operator()(V& p, V g, V& mean, V& squares) const {
            g += decay * p;
            mean += one_minus_beta_1 * (g - mean);
            squares += one_minus_beta_2 * (g * g - squares);
            p = shrink * p - rate * mean / (square_root(squares) * root_correction + epsilon);
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        double const n = static_cast<double>(step);
        return {T(rate / (1 - std::pow(beta_1, n))),
                T(epsilon),
                T(weight_decay),
                T(1 - beta_1),
                T(1 - beta_2),
                T(1),
                T(1 / std::sqrt(1 - std::pow(beta_2, n)))};
    }
};

// Adam with decoupled weight decay (Loshchilov & Hutter 2019).
struct adamw {
    double learning_rate = 1e-3;
    double beta_1 = 0.9;
    double beta_2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 1e-2;
    static constexpr char const* name = "adamw";
    static constexpr int slots = 2;
    [[gnu::noinline]] auto hyperparameters() const {
        return adam{learning_rate, beta_1, beta_2, epsilon, weight_decay}.hyperparameters();
    }
    static constexpr bool not_negative(int slot) { return slot == 1; }

    template <class T>
    using rule = adam::rule<T>;
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        rule<T> r = adam{learning_rate, beta_1, beta_2, epsilon}.template at<T>(step, rate);
        r.shrink = T(1 - rate * weight_decay);
        return r;
    }
};

// Adam whose second moment never falls (Reddi et al. 2018); PyTorch's Adam with amsgrad.
struct amsgrad {
    double learning_rate = 1e-3;
    double beta_1 = 0.9;
    double beta_2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0;
    static constexpr char const* name = "amsgrad";
    static constexpr int slots = 3;
    [[gnu::noinline]] auto hyperparameters() const {
        return adam{learning_rate, beta_1, beta_2, epsilon, weight_decay}.hyperparameters();
    }
    static constexpr bool not_negative(int slot) { return slot != 0; }

    template <class T>
    struct rule {
        castnet::adam::rule<T> base;
        template <class V>
        CASTNET_HD void operator()(V& p, V g, V& mean, V& squares, V& most) const {
            g += base.decay * p;
            mean += base.one_minus_beta_1 * (g - mean);
            squares += base.one_minus_beta_2 * (g * g - squares);
            most = squares <= most ? most : squares; // NaN, too
            p -= base.rate * mean / (square_root(most) * base.root_correction + base.epsilon);
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        return {
            adam{learning_rate, beta_1, beta_2, epsilon, weight_decay}.template at<T>(step, rate)};
    }
};

// Adam with Nesterov's momentum (Dozat 2016), whose warm-up is PyTorch's: the momentum of step t is
// beta_1 * (1 - 0.96^(t * momentum_decay) / 2).
struct nadam {
    double learning_rate = 2e-3;
    double beta_1 = 0.9;
    double beta_2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0;
    double momentum_decay = 4e-3;
    static constexpr char const* name = "nadam";
    static constexpr int slots = 2;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"beta_1", beta_1, hyperparameter::below_one},
                                              {"beta_2", beta_2, hyperparameter::below_one},
                                              {"epsilon", epsilon},
                                              {"weight_decay", weight_decay},
                                              {"momentum_decay", momentum_decay}});
    }
    static constexpr bool not_negative(int slot) { return slot == 1; }

    template <class T>
    struct rule {
        T gradient_rate, mean_rate, epsilon, decay;
        T one_minus_beta_1, one_minus_beta_2;
        T root_correction;
        template <class V>
        CASTNET_HD void operator()(V& p, V g, V& mean, V& squares) const {
            g += decay * p;
            mean += one_minus_beta_1 * (g - mean);
            squares += one_minus_beta_2 * (g * g - squares);
            p -= (gradient_rate * g + mean_rate * mean) /
                 (square_root(squares) * root_correction + epsilon);
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        // The product of all momenta so far; soon it is too small to count.
        double const shrink = std::pow(0.96, momentum_decay);
        double product = 1, power = 1;
        for (std::uint64_t t = 1; t <= step && product > 1e-20; ++t) {
            power *= shrink;
            product *= beta_1 * (1 - 0.5 * power);
        }
        double const n = static_cast<double>(step);
        auto const momentum = [&](double t) {
            return beta_1 * (1 - 0.5 * std::pow(0.96, t * momentum_decay));
        };
        double const now = momentum(n), next = momentum(n + 1);
        return {T(rate * (1 - now) / (1 - product)),
                T(rate * next / (1 - product * next)),
                T(epsilon),
                T(weight_decay),
                T(1 - beta_1),
                T(1 - beta_2),
                T(1 / std::sqrt(1 - std::pow(beta_2, n)))};
    }
};

// Adam with the largest gradient so far, which fades, in place of the root of the second moment
// (Kingma & Ba 2015, section 7.1).
struct adamax {
    double learning_rate = 2e-3;
    double beta_1 = 0.9;
    double beta_2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0;
    static constexpr char const* name = "adamax";
    static constexpr int slots = 2;
    [[gnu::noinline]] auto hyperparameters() const {
        return adam{learning_rate, beta_1, beta_2, epsilon, weight_decay}.hyperparameters();
    }
    static constexpr bool not_negative(int slot) { return slot == 1; }

    template <class T>
    struct rule {
        T rate, epsilon, decay, one_minus_beta_1, beta_2;
        template <class V>
        CASTNET_HD void operator()(V& p, V g, V& mean, V& largest) const {
            g += decay * p;
            mean += one_minus_beta_1 * (g - mean);
            V const faded = beta_2 * largest, now = (g < V{} ? -g : g) + epsilon;
            largest = now <= faded ? faded : now; // NaN, too
            p -= rate * mean / largest;
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        double const n = static_cast<double>(step);
        return {T(rate / (1 - std::pow(beta_1, n))), T(epsilon), T(weight_decay), T(1 - beta_1),
                T(beta_2)};
    }
};

// Adam that divides by the second moment only from the step on, about the sixth, where that is
// known well enough, and then goes by how well (Liu et al. 2020).
struct radam {
    double learning_rate = 1e-3;
    double beta_1 = 0.9;
    double beta_2 = 0.999;
    double epsilon = 1e-8;
    double weight_decay = 0;
    static constexpr char const* name = "radam";
    static constexpr int slots = 2;
    [[gnu::noinline]] auto hyperparameters() const {
        return adam{learning_rate, beta_1, beta_2, epsilon, weight_decay}.hyperparameters();
    }
    static constexpr bool not_negative(int slot) { return slot == 1; }

    template <class T>
    struct rule {
        T epsilon, decay, one_minus_beta_1, one_minus_beta_2;
        T plain_rate, adaptive_rate; // of which one is 0
        template <class V>
        CASTNET_HD void operator()(V& p, V g, V& mean, V& squares) const {
            g += decay * p;
            mean += one_minus_beta_1 * (g - mean);
            squares += one_minus_beta_2 * (g * g - squares);
            p -= mean * (plain_rate + adaptive_rate / (square_root(squares) + epsilon));
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        double const n = static_cast<double>(step), power = std::pow(beta_2, n);
        double const most = 2 / (1 - beta_2) - 1, length = most - 2 * n * power / (1 - power);
        double const corrected = rate / (1 - std::pow(beta_1, n));
        rule<T> r{T(epsilon), T(weight_decay), T(1 - beta_1), T(1 - beta_2), T(corrected), T(0)};
        if (length > 5) {
            double const rectified =
                std::sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length));
            r.plain_rate = T(0);
            r.adaptive_rate = T(corrected * rectified * std::sqrt(1 - power));
        }
        return r;
    }
};

static_assert(Optimizer<adam>);
static_assert(Optimizer<adamw>);
static_assert(Optimizer<amsgrad>);
static_assert(Optimizer<nadam>);
static_assert(Optimizer<adamax>);
static_assert(Optimizer<radam>);

} // namespace castnet
