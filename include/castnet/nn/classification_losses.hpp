// Losses of classes that exclude each other: cross-entropy of softmax, and focal loss.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/graph/op/product.hpp>
#include <castnet/nn/class_numbers.hpp>
#include <castnet/nn/logits.hpp>
#include <castnet/nn/loss.hpp>

#include <array>

namespace castnet {

namespace detail {

// The mean over steps or pixels; the value itself where there is only one.
template <class S>
constexpr auto mean_of_each(symbol<S> value) {
    if constexpr (S::rank == 0) {
        return value;
    } else {
        return mean(value);
    }
}

} // namespace detail

// Cross-entropy of softmax(logits) and class numbers, as PyTorch's CrossEntropyLoss; with label
// smoothing the target is 1 - s + s/classes for the class and s/classes for all others.
//
// Of several steps or pixels it is the mean over those that count, whose label is not
// data::ignored; 0 if there are none. So every sample counts alike, as its weight says. PyTorch's
// mean, in which every step of a batch counts alike, is that of samples whose weights are the
// numbers of these steps.
//
// The largest logit is subtracted first, so that large logits keep their precision; terms of other
// classes are left out and not multiplied by 0, since they may be infinite.
template <float Smoothing>
struct cross_entropy_loss {
    static constexpr char const* name = Smoothing == 0 ? "cross_entropy" : "smoothed_cross_entropy";
    static constexpr bool labels = true;
    static_assert(Smoothing >= 0 && Smoothing < 1,
                  "castnet: smoothed_cross_entropy<smoothing>: the smoothing must be in [0, 1)");

    template <Shape S, LabelOf<S> Label>
    constexpr auto operator()(symbol<S> logits, symbol<Label> label) const {
        return detail::mean_over_labels<S>(beside_each(logits, label), label);
    }

    // Of each step or pixel by itself, in the shape of the labels: equal(label, 2) chooses those of
    // a class. Where a label is data::ignored, it means nothing.
    template <Shape S, Shape Labels>
    constexpr auto of_each(symbol<S> logits, symbol<Labels> label) const {
        return detail::shaped_as(label, beside_each(logits, label));
    }

    // The same as a tensor with the axes of the logits and one channel.
    template <Shape S, Shape Labels>
    constexpr auto beside_each(symbol<S> logits, symbol<Labels> label) const {
        detail::takes_logits(logits);
        constexpr size_t classes = channels_of<S>;
        auto const largest = detached_max_channels(logits);
        auto const hit = equal(detail::channel_numbers<S>(*logits.g), detail::beside<S>(label));
        constexpr double rest = static_cast<double>(Smoothing) / double(classes);
        if constexpr (Smoothing == 0) {
            return log_sum_exp(logits - largest) + sum_channels(where(hit, largest - logits, 0));
        } else {
            return log_sum_exp(logits - largest) +
                   sum_channels((hit * (1.0 - double{Smoothing}) + rest) * (largest - logits));
        }
    }
};
inline constexpr cross_entropy_loss<0.0F> cross_entropy{};
template <ConstantNumber auto Smoothing>
inline constexpr cross_entropy_loss<static_cast<float>(Smoothing)> smoothed_cross_entropy{};

// The same with one-hot or probability targets that sum to 1 (Keras' categorical_crossentropy), for
// each of several steps or pixels, of which it is the mean.
struct categorical_cross_entropy_loss {
    static constexpr char const* name = "categorical_cross_entropy";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        detail::takes_logits(logits);
        auto const largest = detached_max_channels(logits);
        return detail::mean_of_each(log_sum_exp(logits - largest) * sum_channels(target) +
                                    sum_channels(where(target, target * (largest - logits), 0)));
    }
};
inline constexpr categorical_cross_entropy_loss categorical_cross_entropy{};

// The same with label smoothing (Keras' label_smoothing): each target t counts as
// t * (1 - smoothing) + smoothing / classes, for a smoothing from 0 to below 1.
struct smoothed_categorical_cross_entropy_loss {
    static constexpr char const* name = "smoothed_categorical_cross_entropy";
    static constexpr bool labels = false;
    scalar smoothing = 0.1;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"smoothing", smoothing.value, hyperparameter::below_one}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        constexpr auto classes = static_cast<double>(channels_of<S>);
        return categorical_cross_entropy(logits, target * (1 - smoothing) + smoothing / classes);
    }
};
inline constexpr smoothed_categorical_cross_entropy_loss smoothed_categorical_cross_entropy{};

// Cross-entropy of softmax(logits) and class numbers, times alpha (1 - p)^gamma for the label's
// probability p, so that what is right already counts less (focal loss, Lin et al. 2017; Keras'
// CategoricalFocalCrossentropy); of steps or pixels, the mean over those that count. 1 - p is at
// least 1e-7, as with Keras.
struct focal_cross_entropy_loss {
    static constexpr char const* name = "focal_cross_entropy";
    static constexpr bool labels = true;
    scalar alpha = 0.25;
    scalar gamma = 2;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"alpha", alpha.value}, {"gamma", gamma.value}});
    }

    template <Shape S, LabelOf<S> Label>
    constexpr auto operator()(symbol<S> logits, symbol<Label> label) const {
        return detail::mean_over_labels<S>(beside_each(logits, label), label);
    }

    // As those of cross_entropy.
    template <Shape S, Shape Labels>
    constexpr auto of_each(symbol<S> logits, symbol<Labels> label) const {
        return detail::shaped_as(label, beside_each(logits, label));
    }
    template <Shape S, Shape Labels>
    constexpr auto beside_each(symbol<S> logits, symbol<Labels> label) const {
        auto const cost = cross_entropy.beside_each(logits, label);
        return alpha * pow(maximum(-expm1(-cost), 1e-7), gamma) * cost;
    }
};
inline constexpr focal_cross_entropy_loss focal_cross_entropy{};

static_assert(Loss<cross_entropy_loss<0.0F>> && Loss<categorical_cross_entropy_loss> &&
              Loss<focal_cross_entropy_loss>);

} // namespace castnet
