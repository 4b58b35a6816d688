// Loss functions: expressions with one value per sample, whose gradients are derived.
//
// A loss is called with the symbols of a prediction and its target. The target has the shape of the
// prediction or, if `labels` is true, is a class number: one for each step of a sequence (time,
// classes) and for each pixel of an image (classes, height, width). A custom loss may define
// another `target_shape`. A network with several outputs has a loss for each
// (nn/output_losses.hpp), or one that is called with all outputs and then the target; or all
// targets, if it lists several or, as data::targets<>, none:
//     using targets = data::targets<data::label<3>, shape<4>>;
// Its numbers are template arguments, or scalars that the program gives (graph/scalar.hpp), whose
// ranges it may list (core/hyperparameters.hpp).
// A step minimises
//     sum over samples of weight * loss  /  sum of weights,
// which is the mean if samples have no weights.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/data/label.hpp>
#include <castnet/graph/op/product.hpp>
#include <castnet/graph/op/rearrange.hpp>
#include <castnet/graph/op/reduce.hpp>
#include <castnet/graph/op/source.hpp>

#include <array>
#include <concepts>
#include <type_traits>

namespace castnet {

// Of losses and metrics that say all targets that they take.
template <class T>
concept ListsTargets = requires { typename T::targets; };
template <class T>
concept Loss = ListsTargets<T> || requires {
    { T::labels } -> std::convertible_to<bool>;
};
namespace detail {

// Whether this node is the result of a softmax, log_softmax or sigmoid.
constexpr bool is_probability(ir::graph const& g, int id) {
    auto const at = [&](int i) -> ir::node const& { return g.nodes[i]; };
    auto const is = [&](int i, fn f) { return at(i).kind == op::map && at(i).function == f; };
    auto const is_log_softmax = [&](int i) {
        return is(i, fn::subtract) && at(at(i).in[1]).kind == op::reduce &&
               at(at(i).in[1]).reduce == ir::reduction::log_sum_exp;
    };
    while (at(id).kind == op::reshape) {
        id = at(id).in[0];
    }
    return is(id, fn::sigmoid) || is(id, fn::log_sigmoid) || is_log_softmax(id) ||
           is(id, fn::softmax) || (is(id, fn::exp) && is_log_softmax(at(id).in[0]));
}

// Declares that x must be logits. If it is not, a program with this loss does not compile: the
// function would be applied twice, and the network would train, but badly.
template <class S>
constexpr void takes_logits(symbol<S> x) {
    if (is_probability(*x.g, x.id)) {
        x.g->report(mistake::probabilities_as_logits);
    }
}

// 0, 1, 2, … for each channel of S, to be compared with a label beside S.
template <Shape S>
constexpr auto channel_numbers(ir::graph& g) {
    return along_channels<S>(channel_index<shape<channels_of<S>>>(g));
}

// A number for each step or pixel of S as a tensor with S's axes and one channel.
template <Shape S, Shape Numbers>
constexpr auto beside(symbol<Numbers> x) {
    if constexpr (Numbers::count == 1) {
        return symbol<shape<>>{x.g, x.id};
    } else {
        return reshaped(x, with_channels<S, 1>{});
    }
}

// The numbers of steps or pixels in the shape of their labels, with which they combine.
template <Shape Labels, Shape S>
constexpr auto shaped_as(symbol<Labels> label, symbol<S> x) {
    using numbers = typename decltype(greater_equal(label, 0))::shape_type;
    if constexpr (std::is_same_v<S, numbers>) {
        return x;
    } else {
        return reshaped(x, numbers{});
    }
}

// Labels may be ignored; class numbers are not negative.
template <class S>
constexpr auto counts(symbol<S> label) {
    return greater_equal(label, 0);
}

// Sums of values over the steps or pixels that count, and their number.
template <class S, class Labels>
constexpr auto sum_of_counted(symbol<S> value, symbol<Labels> label) {
    return sum(where(counts(label), value, 0));
}
// The mean of what stands beside the steps or pixels of S over those that count; of a vector, which
// has one label, that.
template <Shape S, class Value, class Label>
constexpr auto mean_over_labels(symbol<Value> value, symbol<Label> label) {
    if constexpr (std::is_same_v<Label, shape<>>) {
        return value;
    } else {
        auto const number = beside<S>(label);
        return sum_of_counted(value, number) / maximum(sum(counts(number)), 1);
    }
}

// The mean over steps or pixels; of a vector, which has one value, that.
template <class S>
constexpr auto mean_of_each(symbol<S> value) {
    if constexpr (S::rank == 0) {
        return value;
    } else {
        return mean(value);
    }
}

} // namespace detail

// The class numbers of a prediction's steps or pixels.
template <class Labels, class S>
concept LabelsOf =
    is_ids<Labels> && Labels::values == channels_of<S> && Labels::count == pixels_of<S>;
// Or the class number of a prediction that is a vector.
template <class Label, class S>
concept LabelOf = LabelsOf<Label, S> || (S::rank == 1 && std::is_same_v<Label, shape<>>);

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
        constexpr double rest = double{Smoothing} / double(classes);
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

// Binary cross-entropy from logits, the mean over the sample's elements
// (PyTorch's BCEWithLogitsLoss).
struct binary_cross_entropy_loss {
    static constexpr char const* name = "binary_cross_entropy";
    static constexpr bool labels = false;
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

// Mean squared error over the sample's elements.
struct mse_loss {
    static constexpr char const* name = "mse";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        return mean(square(prediction - target));
    }
};
inline constexpr mse_loss mse{};

// Mean absolute error over the sample's elements.
struct mae_loss {
    static constexpr char const* name = "mae";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        return mean(abs(prediction - target));
    }
};
inline constexpr mae_loss mae{};

// Mean absolute error in percent of the target, whose size counts as at least 1e-7 (Keras'
// MeanAbsolutePercentageError).
struct mape_loss {
    static constexpr char const* name = "mape";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        return 100 * mean(abs(prediction - target) / maximum(abs(target), 1e-7));
    }
};
inline constexpr mape_loss mape{};

// Mean squared error of log(1 + x), for predictions and targets x that count as at least 1e-7
// (Keras' MeanSquaredLogarithmicError).
struct msle_loss {
    static constexpr char const* name = "msle";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        auto const logarithm = [](auto x) { return log1p(maximum(x, 1e-7)); };
        return mean(square(logarithm(prediction) - logarithm(target)));
    }
};
inline constexpr msle_loss msle{};

// Quadratic up to an error of delta, linear beyond (Huber 1964; PyTorch's HuberLoss).
struct huber_loss {
    static constexpr char const* name = "huber";
    static constexpr bool labels = false;
    scalar delta = 1;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"delta", delta.value, hyperparameter::positive}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        auto const error = abs(prediction - target);
        auto const inside = minimum(error, delta);
        return mean(inside * (error - inside * 0.5));
    }
};
template <double Delta>
struct huber_delta {
    static_assert(detail::in_range({"delta", Delta, hyperparameter::positive}),
                  "castnet: huber<delta>: delta must be finite and above 0");
    static constexpr double value = Delta;
};
template <ConstantNumber auto Delta = 1>
inline constexpr huber_loss huber{.delta = huber_delta<static_cast<double>(Delta)>::value};

// log(cosh(error)), the mean over the sample's elements: half the square of small errors, and the
// absolute value of large ones less log(2) (Keras' LogCosh).
struct log_cosh_loss {
    static constexpr char const* name = "log_cosh";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        auto const error = abs(prediction - target);
        return mean(error + log1p(0.5 * expm1(-2 * error))); // keeps the digits of small errors
    }
};
inline constexpr log_cosh_loss log_cosh{};

static_assert(Loss<cross_entropy_loss<0.0F>> && Loss<categorical_cross_entropy_loss> &&
              Loss<binary_cross_entropy_loss> && Loss<mse_loss> && Loss<mae_loss> &&
              Loss<huber_loss>);

} // namespace castnet
