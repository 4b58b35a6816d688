// Optimizers, with the definitions and defaults of PyTorch, or of the paper where PyTorch has none.
//
// An optimizer is a struct of hyperparameters with
//   static constexpr char const* name
//   static constexpr int slots    numbers of state per parameter, zero at the start
//   rule<T> at(step, rate)        the constants of a step, computed once per step, from step 1 on
//   hyperparameters()             an array of their names, values and ranges (optional: compile()
//                                 checks them and compares them with those of a checkpoint)
//   static not_negative(slot)     whether the numbers of a slot cannot be negative (optional)
// and rule<T> is callable as rule(parameter&, gradient, state&…): the update of one T or, if the
// rule accepts them, of a compiler's vector of T (hence square_root). One kernel applies it to all
// parameters. The weight decay of all but adamw and lion is added to the gradient. Running means
// are updated with one_minus_beta, computed in double and rounded once: 1 - T(0.999) is off by
// 1e-5.
//
// A rule that depends on the whole gradient (clip_norm) also has
//   rule with_norm(double norm) const
// which returns the rule for a step whose gradient has this Euclidean norm over all trained
// parameters. It is called once per step, before any parameter is updated; on GPUs in a kernel, so
// the rule must be trivially copyable there. One with rules for groups of parameters (groups) has
//   Rule const& of_group(int number) const
// instead of the update, and the optimizer says how many there are, and which a parameter has:
//   static constexpr int group_count
//   int group_of(std::string_view name) const
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/optim/hyperparameters.hpp>

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <utility>

namespace castnet {

template <class T>
concept Optimizer = requires(T const& optimizer) {
    { T::name } -> std::convertible_to<char const*>;
    { T::slots } -> std::convertible_to<int>;
    { optimizer.learning_rate } -> std::convertible_to<double>;
    optimizer.template at<float>(std::uint64_t{1}, 0.1);
};

template <class Rule>
concept NeedsNorm = requires(Rule const& rule) { rule.with_norm(0.0); };

// The rule of a parameter's group.
template <class Rule>
CASTNET_HD auto const& rule_of_group(Rule const& rule, [[maybe_unused]] int number) {
    if constexpr (requires { rule.of_group(number); }) {
        return rule.of_group(number);
    } else {
        return rule;
    }
}

namespace detail {
template <class Optimizer, class T>
using rule_of = decltype(std::declval<Optimizer const&>().template at<T>(std::uint64_t{1}, 0.0));
}

// Stochastic gradient descent: parameter -= rate * gradient.
struct sgd {
    double learning_rate = 1e-2;
    double weight_decay = 0;
    static constexpr char const* name = "sgd";
    static constexpr int slots = 0;
    [[gnu::cold]] auto hyperparameters() const {
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
    [[gnu::cold]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"learning_rate", learning_rate},
             {"momentum", momentum, hyperparameter::decay},
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

// RMSprop (Hinton's lecture 6e, 2012).
struct rmsprop {
    double learning_rate = 1e-2;
    double alpha = 0.99;
    double epsilon = 1e-8;
    double weight_decay = 0;
    static constexpr char const* name = "rmsprop";
    static constexpr int slots = 1;
    [[gnu::cold]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"alpha", alpha, hyperparameter::decay},
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
    [[gnu::cold]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"learning_rate", learning_rate},
             {"alpha", alpha, hyperparameter::decay},
             {"momentum", momentum, hyperparameter::decay},
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

// Adam (Kingma & Ba 2015).
struct adam {
    double learning_rate = 1e-3;
    double beta_1 = 0.9;
    double beta_2 = 0.999;
    double epsilon = 1e-8; // Keras: 1e-7
    double weight_decay = 0;
    static constexpr char const* name = "adam";
    static constexpr int slots = 2;
    [[gnu::cold]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"beta_1", beta_1, hyperparameter::decay},
                                              {"beta_2", beta_2, hyperparameter::decay},
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
    [[gnu::cold]] auto hyperparameters() const {
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
    [[gnu::cold]] auto hyperparameters() const {
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
    [[gnu::cold]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"beta_1", beta_1, hyperparameter::decay},
                                              {"beta_2", beta_2, hyperparameter::decay},
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

// Lion (Chen et al. 2023): steps of one length, in the direction of the momentum's signs. The
// weight decay is decoupled, as in adamw.
struct lion {
    double learning_rate = 1e-4;
    double beta_1 = 0.9;
    double beta_2 = 0.99;
    double weight_decay = 0;
    static constexpr char const* name = "lion";
    static constexpr int slots = 1;
    [[gnu::cold]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"beta_1", beta_1, hyperparameter::decay},
                                              {"beta_2", beta_2, hyperparameter::decay},
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

// Adagrad (Duchi et al. 2011).
struct adagrad {
    double learning_rate = 1e-2;
    double epsilon = 1e-10;
    double weight_decay = 0;
    static constexpr char const* name = "adagrad";
    static constexpr int slots = 1;
    [[gnu::cold]] auto hyperparameters() const {
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
    [[gnu::cold]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"learning_rate", learning_rate},
                                              {"rho", rho, hyperparameter::decay},
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

static_assert(Optimizer<sgd>);
static_assert(Optimizer<momentum>);
static_assert(Optimizer<rmsprop>);
static_assert(Optimizer<rmsprop_momentum>);
static_assert(Optimizer<adam>);
static_assert(Optimizer<adamw>);
static_assert(Optimizer<amsgrad>);
static_assert(Optimizer<nadam>);
static_assert(Optimizer<lion>);
static_assert(Optimizer<adagrad>);
static_assert(Optimizer<adadelta>);

} // namespace castnet
