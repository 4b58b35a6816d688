// Losses of binary decisions: cross-entropy of sigmoid, and focal loss.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/graph/op/reduce.hpp>
#include <castnet/graph/op/source.hpp>
#include <castnet/nn/logits.hpp>
#include <castnet/nn/loss.hpp>

#include <array>

namespace castnet {

// Binary cross-entropy from logits, the mean over the sample's elements
// (PyTorch's BCEWithLogitsLoss). Targets are probabilities, from 0 to 1.
struct binary_cross_entropy_loss {
    static constexpr char const* name = "binary_cross_entropy";
    static constexpr bool labels = false;
    static constexpr bool probabilities = true;
    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        detail::takes_logits(logits);
        return mean(apply(function<fn::logistic_loss>{}, logits, target));
    }
};
inline constexpr binary_cross_entropy_loss binary_cross_entropy{};

// Binary cross-entropy from logits where p is the probability of the target, 0 or 1, times
// (1 - p)^gamma, and times alpha where the target is 1 and 1 - alpha where it is 0; the mean over
// the sample's elements (torchvision's sigmoid_focal_loss; Keras' BinaryFocalCrossentropy with
// apply_class_balancing).
struct binary_focal_cross_entropy_loss {
    static constexpr char const* name = "binary_focal_cross_entropy";
    static constexpr bool labels = false;
    static constexpr bool probabilities = true;
    scalar alpha = 0.25;
    scalar gamma = 2;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"alpha", alpha.value, hyperparameter::fraction}, {"gamma", gamma.value}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        detail::takes_logits(logits);
        auto const wrong = where(greater(target, 0.5), -logits, logits); // the other target's logit
        auto const balance = where(greater(target, 0.5), alpha, 1 - alpha);
        return mean(balance * exp(gamma * log_sigmoid(wrong)) * softplus(wrong));
    }
};
inline constexpr binary_focal_cross_entropy_loss binary_focal_cross_entropy{};

static_assert(Loss<binary_cross_entropy_loss> && Loss<binary_focal_cross_entropy_loss>);

} // namespace castnet
