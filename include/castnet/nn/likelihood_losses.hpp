// Losses of probability distributions: Kullback-Leibler divergence, and the negative log-likelihood
// of Poisson and normal distributions.
#pragma once

#include <castnet/nn/classification_losses.hpp>

namespace castnet {

// sum(t log(t / p)) for p = softmax(logits) and targets t, probabilities that sum to 1; where t is
// 0, nothing is added (PyTorch's KLDivLoss(reduction="batchmean") of log_softmax(logits), Keras'
// KLDivergence); of steps or pixels, the mean. The gradient is that of categorical_cross_entropy.
struct kl_divergence_loss {
    static constexpr char const* name = "kl_divergence";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        auto const information = where(greater(target, 0), target * log(target), 0);
        return categorical_cross_entropy(logits, target) +
               detail::mean_of_each(sum_channels(information));
    }
};
inline constexpr kl_divergence_loss kl_divergence{};

// exp(x) - t x for the logarithm x of a rate and a count t: the negative log likelihood of a
// Poisson distribution, up to a constant; the mean over the sample's elements (PyTorch's
// PoissonNLLLoss; Keras' Poisson takes the rate itself).
struct poisson_nll_loss {
    static constexpr char const* name = "poisson_nll";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> log_rate, symbol<S> target) const {
        return mean(exp(log_rate) - target * log_rate);
    }
};
inline constexpr poisson_nll_loss poisson_nll{};

// (log(v) + (m - t)^2 / v) / 2 for the mean m and variance v of a normal distribution, the two
// outputs of a network, where v is at least 1e-6: its negative log likelihood, up to a constant;
// the mean over the sample's elements (PyTorch's GaussianNLLLoss). A variance below has no
// gradient: let its output end in softplus or exp.
struct gaussian_nll_loss {
    static constexpr char const* name = "gaussian_nll";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> average, symbol<S> variance, symbol<S> target) const {
        auto const v = maximum(variance, 1e-6);
        return 0.5 * mean(log(v) + square(average - target) / v);
    }
};
inline constexpr gaussian_nll_loss gaussian_nll{};

} // namespace castnet
