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

// The rate of such a layer.
template <float Rate>
struct dropout_rate {
    static constexpr bool possible = Rate >= 0 && Rate < 1;
    static_assert(possible,
                  "castnet: dropout, spatial_dropout, alpha_dropout, gaussian_dropout and "
                  "stochastic_depth: the rate must be in [0, 1); see dropout_rate<rate>");
    static constexpr double value =
        static_cast<double>(possible ? Rate : 0); // one mistake is one error
};

// A layer that drops parts of a tensor: elements that share a number of Parts::kept<S> are set to 0
// together.
template <float Rate, class Parts>
struct dropping_layer {
    static constexpr char const* name = Parts::name;
    static constexpr double rate = dropout_rate<Rate>::value;

    bool in_predictions = false;

    constexpr dropping_layer always() const { return {.in_predictions = true}; }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        ir::graph& g = *x.g;
        return detail::drops(g, rate, in_predictions) ? x * Parts::template kept<S>(g, 1 - rate)
                                                      : x;
    }
};

struct single_elements {
    static constexpr char const* name = "dropout";
    template <Shape S>
    static constexpr auto kept(ir::graph& g, double share) {
        return bernoulli<S>(g, share);
    }
};
// In training every element is set to 0 with probability Rate and otherwise divided by 1 - Rate;
// in evaluation nothing happens. dropout<Rate>.always() drops in predictions, evaluation and frozen
// layers, too (Monte Carlo dropout, Gal & Ghahramani 2016; Keras' training=True): there the
// elements depend on the model's seed and the sample's place in the call of predict or evaluate.
template <ConstantNumber auto Rate>
inline constexpr dropping_layer<static_cast<float>(Rate), single_elements> dropout{};

struct whole_channels {
    static constexpr char const* name = "spatial_dropout";
    template <Shape S>
    static constexpr auto kept(ir::graph& g, double share) {
        return along_channels<S>(bernoulli<shape<channels_of<S>>>(g, share));
    }
};
// The same of whole channels of an image, or of whole features of a sequence, (time, features)
// (Tompson et al. 2015; Keras' SpatialDropout2D, PyTorch's Dropout2d).
template <ConstantNumber auto Rate>
inline constexpr dropping_layer<static_cast<float>(Rate), whole_channels> spatial_dropout{};

template <float Rate>
struct alpha_dropout_layer {
    static constexpr char const* name = "alpha_dropout";

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        constexpr double rate = dropout_rate<Rate>::value, keep = 1 - rate;
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
