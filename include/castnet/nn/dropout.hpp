// Dropout (Srivastava et al. 2014), inverted as in Keras and PyTorch.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/graph/op/rearrange.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

namespace detail {

// Whether elements are dropped, which they are in training only, and not in frozen layers.
constexpr bool drops(ir::graph& g, double rate) {
    bool const possible = rate >= 0 && rate < 1;
    g.expect(possible, mistake::dropout_rate);
    return possible && rate > 0 && g.trains();
}

template <Shape S>
constexpr symbol<S> dropped(symbol<S> x, double rate) {
    return drops(*x.g, rate) ? x * bernoulli<S>(*x.g, 1 - rate) : x;
}

} // namespace detail

template <float Rate>
struct dropout_layer {
    static constexpr char const* name = "dropout";
    static_assert(Rate >= 0 && Rate < 1, "castnet: dropout: the rate must be in [0, 1)");

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        return detail::dropped(x, double{Rate});
    }
};

// In training every element is set to 0 with probability Rate and otherwise divided by 1 - Rate;
// in evaluation nothing happens.
template <ConstantNumber auto Rate>
inline constexpr dropout_layer<static_cast<float>(Rate)> dropout{};

template <float Rate>
struct spatial_dropout_layer {
    static constexpr char const* name = "spatial_dropout";
    static_assert(Rate >= 0 && Rate < 1, "castnet: spatial_dropout: the rate must be in [0, 1)");

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        if (!detail::drops(*x.g, double{Rate})) {
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

} // namespace castnet
