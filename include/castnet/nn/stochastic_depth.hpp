// Stochastic depth, stochastic_depth<Rate>: the last layer of a residual branch, which some samples
// do without (Huang et al. 2016; torchvision's StochasticDepth(rate, "row"), timm's DropPath).
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

// In training all elements of a sample together are set to 0 with probability Rate and otherwise
// divided by 1 - Rate; in evaluation nothing happens.
template <float Rate>
struct stochastic_depth_layer {
    static constexpr char const* name = "stochastic_depth";
    static_assert(Rate >= 0 && Rate < 1, "castnet: stochastic_depth: the rate must be in [0, 1)");

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        return Rate > 0 && x.g->trains() ? x * bernoulli<shape<>>(*x.g, 1 - double{Rate}) : x;
    }
};
template <ConstantNumber auto Rate>
inline constexpr stochastic_depth_layer<static_cast<float>(Rate)> stochastic_depth{};

} // namespace castnet
