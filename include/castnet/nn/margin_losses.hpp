// Margin losses: what is right by a margin of 1 costs nothing, as with support vector machines.
#pragma once

#include <castnet/nn/losses.hpp>

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

} // namespace castnet
