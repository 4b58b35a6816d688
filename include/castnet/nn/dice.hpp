// Dice and Tversky losses of segmentations.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/graph/op/reduce.hpp>
#include <castnet/graph/op/source.hpp>
#include <castnet/nn/logits.hpp>
#include <castnet/nn/loss.hpp>

#include <array>

namespace castnet {

// 1 - (2 sum(p t) + smooth) / (sum(p) + sum(t) + smooth) for p = sigmoid(logits) and targets t of 0
// or 1, with sums over all elements of a sample (Milletari et al. 2016 without squares; MONAI's
// DiceLoss, of single samples; Keras' Dice without `smooth` above the fraction, so that the loss of
// an empty image that is found empty is 1 there and 0 here). It goes with binary_cross_entropy, for
// the same logits: struct { … return cn::binary_cross_entropy(x, t) + cn::dice(x, t); }.
struct dice_loss {
    static constexpr char const* name = "dice";
    static constexpr bool labels = false;
    static constexpr bool probabilities = true;
    scalar smooth = 1e-7;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"smooth", smooth.value}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        detail::takes_logits(logits);
        auto const p = sigmoid(logits);
        return 1 - (2 * sum(p * target) + smooth) / (sum(p) + sum(target) + smooth);
    }
};
inline constexpr dice_loss dice{};

// 1 - (o + smooth) / (o + alpha (sum(p) - o) + beta (sum(t) - o) + smooth), where o = sum(p t), for
// p and t as above: alpha weighs false positives, beta false negatives (Salehi et al. 2017; MONAI's
// TverskyLoss and, with the same difference, Keras' Tversky, of single samples).
struct tversky_loss {
    static constexpr char const* name = "tversky";
    static constexpr bool labels = false;
    static constexpr bool probabilities = true;
    scalar alpha = 0.5;
    scalar beta = 0.5;
    scalar smooth = 1e-7;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"alpha", alpha.value}, {"beta", beta.value}, {"smooth", smooth.value}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        detail::takes_logits(logits);
        auto const p = sigmoid(logits);
        auto const both = sum(p * target);
        auto const errors = alpha * (sum(p) - both) + beta * (sum(target) - both);
        return 1 - (both + smooth) / (both + errors + smooth);
    }
};
inline constexpr tversky_loss tversky{};

} // namespace castnet
