// Dropout (Srivastava et al. 2014), inverted as in Keras and PyTorch.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/graph/op/rearrange.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

namespace detail {

// Whether elements are dropped: unless `always`, in training only, and not in frozen layers.
constexpr bool drops(ir::graph& g, double rate, bool always = false) {
    bool const possible = rate >= 0 && rate < 1;
    g.expect(possible, mistake::dropout_rate);
    return possible && rate > 0 && (always || g.trains());
}

template <Shape S>
constexpr symbol<S> dropped(symbol<S> x, double rate, bool always = false) {
    return drops(*x.g, rate, always) ? x * bernoulli<S>(*x.g, 1 - rate) : x;
}

} // namespace detail

template <float Rate>
struct dropout_layer {
    static constexpr char const* name = "dropout";
    static_assert(Rate >= 0 && Rate < 1, "castnet: dropout: the rate must be in [0, 1)");

    bool in_predictions = false;

    constexpr dropout_layer always() const { return {.in_predictions = true}; }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        return detail::dropped(x, double{Rate}, in_predictions);
    }
};

// In training every element is set to 0 with probability Rate and otherwise divided by 1 - Rate;
// in evaluation nothing happens. dropout<Rate>.always() drops in predictions, evaluation and frozen
// layers, too (Monte Carlo dropout, Gal & Ghahramani 2016; Keras' training=True): there the
// elements depend on the model's seed and the sample's place in the call of predict or, in
// evaluation, in its batch.
template <ConstantNumber auto Rate>
inline constexpr dropout_layer<static_cast<float>(Rate)> dropout{};

template <float Rate>
struct spatial_dropout_layer {
    static constexpr char const* name = "spatial_dropout";
    static_assert(Rate >= 0 && Rate < 1, "castnet: spatial_dropout: the rate must be in [0, 1)");

    bool in_predictions = false;

    constexpr spatial_dropout_layer always() const { return {.in_predictions = true}; }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        if (!detail::drops(*x.g, double{Rate}, in_predictions)) {
            return x;
        }
        auto const kept = bernoulli<shape<channels_of<S>>>(*x.g, 1 - double{Rate});
        return x * along_channels<S>(kept);
    }
};

// The same of whole channels of an image, or of whole features of a sequence, (time, features)
// (Tompson et al. 2015; Keras' SpatialDropout2D, PyTorch's Dropout2d).
template <ConstantNumber auto Rate>
inline constexpr spatial_dropout_layer<static_cast<float>(Rate)> spatial_dropout{};

template <float Rate>
struct alpha_dropout_layer {
    static constexpr char const* name = "alpha_dropout";
    static_assert(Rate >= 0 && Rate < 1, "castnet: alpha_dropout: the rate must be in [0, 1)");

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        constexpr double rate = Rate >= 0 && Rate < 1 ? Rate : 0, keep = 1 - rate;
        if (!detail::drops(*x.g, rate)) {
            return x;
        }
        constexpr double least = -1.0507009873554804934193349852946 * // of selu
                                 1.6732632423543772848170429916717;
        constexpr double a = 1 / constant_square_root(keep * (1 + rate * least * least));
        constexpr double b = -a * least * rate;
        auto const kept = keep * bernoulli<S>(*x.g, keep); // 0 or 1
        return a * ((x - least) * kept + least) + b;
    }
};

// Dropout after selu: dropped elements become its least value, and a linear function keeps mean 0
// and variance 1 (Klambauer et al. 2017; Keras' and PyTorch's AlphaDropout).
template <ConstantNumber auto Rate>
inline constexpr alpha_dropout_layer<static_cast<float>(Rate)> alpha_dropout{};

} // namespace castnet
