// Rectifier with a learned slope, prelu (He et al. 2015; PyTorch's PReLU): x for x > 0, else
// weight * x.
//
// Parameter: weight, one number or, with .per_channel(), one for each channel of an image or
// element of the last axis of anything else; 0.25 at first. (Keras' PReLU has one for each element
// unless its axes are shared, and 0 at first: .init(zeros).)
#pragma once

#include <castnet/graph/op/rearrange.hpp>
#include <castnet/nn/initializers.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

template <bool PerChannel>
struct prelu_layer {
    static constexpr char const* name = "prelu";

    initializer start = constant_value(0.25);

    constexpr prelu_layer<true> per_channel() const { return {start}; }
    constexpr prelu_layer init(initializer weight) const { return {weight}; }

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        ir::graph& g = *x.g;
        scope_guard const scope{g, layer_kind{name}};
        using weights = shape<PerChannel ? channels_of<S> : 1>;
        auto const slope = new_parameter<weights>(g, "weight", {role::vector, start});
        if constexpr (PerChannel) {
            return where(greater(x, 0), x, along_channels<S>(slope) * x);
        } else {
            return where(greater(x, 0), x, slope * x);
        }
    }
};
inline constexpr prelu_layer<false> prelu{};

} // namespace castnet
