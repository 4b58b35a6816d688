// Stochastic depth, stochastic_depth<Rate>: the last layer of a residual branch, which some samples
// do without (Huang et al. 2016; torchvision's StochasticDepth(rate, "row"), timm's DropPath).
#pragma once

#include <castnet/nn/dropout.hpp>

namespace castnet {

struct whole_samples {
    static constexpr char const* name = "stochastic_depth";
    template <Shape>
    static constexpr auto kept(ir::graph& g, double share) {
        return bernoulli<shape<>>(g, share);
    }
};
// In training all elements of a sample together are set to 0 with probability Rate and otherwise
// divided by 1 - Rate; in evaluation nothing happens.
template <ConstantNumber auto Rate>
inline constexpr dropping_layer<static_cast<float>(Rate), whole_samples> stochastic_depth{};

} // namespace castnet
