// Losses: expressions that give one number per sample. Their gradients are derived like any other.
//
// A loss is called with the symbols of a prediction and its target. The target has the shape of the
// prediction, or, where `labels` is true, is a class number; a loss of one's own may name another
// `target_shape`. With several outputs there is a loss for each (nn/output_losses.hpp), or one that
// is called with all of them and the target last; or all targets, if it names several:
//     using targets = data::targets<data::label<3>, shape<4>>;
// What a step minimises is
//     sum over samples of weight * loss  /  sum of weights,
// the mean where nothing is weighted.
#pragma once

#include <castnet/graph/linear.hpp>
#include <castnet/graph/reduce.hpp>

#include <concepts>

namespace castnet {

template <class T>
concept Loss = requires {
    { T::labels } -> std::convertible_to<bool>;
};
namespace detail {

// Whether a softmax, log_softmax or sigmoid made this node.
constexpr bool is_probability(graph const& g, int id) {
    auto const at = [&](int i) -> node const& { return g.nodes[i]; };
    auto const is = [&](int i, fn f) { return at(i).kind == op::map && at(i).function == f; };
    auto const is_log_softmax = [&](int i) {
        return is(i, fn::subtract) && at(at(i).in[1]).kind == op::reduce &&
               at(at(i).in[1]).reduce == reduction::log_sum_exp;
    };
    while (at(id).kind == op::reshape) {
        id = at(id).in[0];
    }
    return is(id, fn::sigmoid) || is(id, fn::log_sigmoid) || is_log_softmax(id) ||
           (is(id, fn::exp) && is_log_softmax(at(id).in[0]));
}

// Says that x is expected to be logits. Where it is not, a program with this loss does not compile:
// the function would be applied twice, and training would go on, badly.
template <class S>
constexpr void takes_logits(symbol<S> x) {
    graph& g = *x.g;
    g.probabilities = g.probabilities || is_probability(g, x.id);
}

} // namespace detail

// Cross-entropy of softmax(logits) and class numbers, as PyTorch's CrossEntropyLoss; with label
// smoothing the target is 1 - s + s/classes for the class and s/classes for all others.
//
// The largest logit is subtracted first, so that large ones keep their digits; and what the target
// rules out is left out, not multiplied with 0, since it may be infinite.
template <float Smoothing>
struct cross_entropy_loss {
    static constexpr char const* name = Smoothing == 0 ? "cross_entropy" : "smoothed_cross_entropy";
    static constexpr bool labels = true;
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> logits, symbol<shape<>> label) const {
        detail::takes_logits(logits);
        auto const largest = detached_max_channels(logits);
        auto const hit = equal(channel_index<shape<Classes>>(*logits.g), label);
        constexpr double rest = double{Smoothing} / double(Classes);
        if constexpr (Smoothing == 0) {
            return log_sum_exp(logits - largest) + sum(where(hit, largest - logits, 0));
        } else {
            return log_sum_exp(logits - largest) +
                   sum((hit * (1.0 - double{Smoothing}) + rest) * (largest - logits));
        }
    }
};
inline constexpr cross_entropy_loss<0.0F> cross_entropy{};
template <float Smoothing>
inline constexpr cross_entropy_loss<Smoothing> smoothed_cross_entropy{};

// The same with one-hot or probability targets that sum to 1 (Keras' categorical_crossentropy).
struct categorical_cross_entropy_loss {
    static constexpr char const* name = "categorical_cross_entropy";
    static constexpr bool labels = false;
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> logits, symbol<shape<Classes>> target) const {
        detail::takes_logits(logits);
        auto const largest = detached_max_channels(logits);
        return log_sum_exp(logits - largest) * sum(target) +
               sum(where(target, target * (largest - logits), 0));
    }
};
inline constexpr categorical_cross_entropy_loss categorical_cross_entropy{};

// Binary cross-entropy from logits, the mean over the sample's elements
// (PyTorch's BCEWithLogitsLoss).
struct binary_cross_entropy_loss {
    static constexpr char const* name = "binary_cross_entropy";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> logit, symbol<S> target) const {
        detail::takes_logits(logit);
        return mean(apply(function<fn::logistic_loss>{}, logit, target));
    }
};
inline constexpr binary_cross_entropy_loss binary_cross_entropy{};

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

// Quadratic up to an error of Delta, linear beyond (Huber 1964; PyTorch's HuberLoss).
template <float Delta>
struct huber_loss {
    static constexpr char const* name = "huber";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        constexpr double delta = double{Delta};
        auto const error = abs(prediction - target);
        auto const inside = minimum(error, delta);
        return mean(inside * (error - inside * 0.5));
    }
};
template <float Delta = 1.0F>
inline constexpr huber_loss<Delta> huber{};

} // namespace castnet
