// Margin losses: what is right by a margin costs nothing, as with support vector machines.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/graph/op/reduce.hpp>
#include <castnet/graph/op/source.hpp>
#include <castnet/nn/logits.hpp>
#include <castnet/nn/loss.hpp>

#include <array>

namespace castnet {

namespace detail {

// By how much a decision falls short of the margin. Targets above 0 are positive; others, 0 or -1
// alike, are negative.
template <class S>
constexpr auto margin_missed(symbol<S> decision, symbol<S> target) {
    takes_logits(decision);
    return relu(1 - where(greater(target, 0), decision, -decision));
}

} // namespace detail

// max(0, 1 - t x) of a decision x, positive or negative, and a target t of 1 or else 0 or -1; the
// mean over the sample's elements (Keras' Hinge).
struct hinge_loss {
    static constexpr char const* name = "hinge";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> decision, symbol<S> target) const {
        return mean(detail::margin_missed(decision, target));
    }
};
inline constexpr hinge_loss hinge{};

// The mean of its square (Keras' SquaredHinge).
struct squared_hinge_loss {
    static constexpr char const* name = "squared_hinge";
    static constexpr bool labels = false;
    template <Shape S>
    constexpr auto operator()(symbol<S> decision, symbol<S> target) const {
        return mean(square(detail::margin_missed(decision, target)));
    }
};
inline constexpr squared_hinge_loss squared_hinge{};

// max(0, 1 + the largest output of another class - that of the target's class), where an output of
// another class counts as at least 0; of one-hot targets (Keras' CategoricalHinge).
struct categorical_hinge_loss {
    static constexpr char const* name = "categorical_hinge";
    static constexpr bool labels = false;
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction,
                              symbol<shape<Classes>> target) const {
        detail::takes_logits(prediction);
        return relu(1 + max((1 - target) * prediction) - sum(target * prediction));
    }
};
inline constexpr categorical_hinge_loss categorical_hinge{};

// max(0, margin - t (a - b)) of two outputs of a network and a target t of 1 where a should be the
// greater one, or else 0 or -1; the mean over the sample's elements (PyTorch's MarginRankingLoss).
struct margin_ranking_loss {
    static constexpr char const* name = "margin_ranking";
    static constexpr bool labels = false;
    scalar margin = 0;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"margin", margin.value}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> a, symbol<S> b, symbol<S> target) const {
        return mean(relu(margin + where(greater(target, 0), b - a, a - b)));
    }
};
inline constexpr margin_ranking_loss margin_ranking{};

// A distance x where the target is 1, for what should be near, and max(0, margin - x) where it is 0
// or -1; the mean over the sample's elements (PyTorch's HingeEmbeddingLoss).
struct hinge_embedding_loss {
    static constexpr char const* name = "hinge_embedding";
    static constexpr bool labels = false;
    scalar margin = 1;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"margin", margin.value}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> distance, symbol<S> target) const {
        return mean(where(greater(target, 0), distance, relu(margin - distance)));
    }
};
inline constexpr hinge_embedding_loss hinge_embedding{};

} // namespace castnet
