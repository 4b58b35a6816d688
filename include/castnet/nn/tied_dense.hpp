// Dense layer with the transposed weight of another one, tied_dense<Features>: x * weight + bias
// over the last axis, as in autoencoders whose halves share their weights.
#pragma once

#include <castnet/nn/dense.hpp>

namespace castnet {

// (units) becomes (features), (time, units) becomes (time, features), where the other layer goes
// from features to units. Both stand in shared<…> of one name:
//     x | shared<"code", dense<8>> | sigmoid | shared<"code", tied_dense<20>>
// Parameters: weight (units, features), that of the other layer; tied_bias (features), zeros.
template <size_t Features>
struct tied_dense_layer {
    static constexpr char const* name = "tied_dense";
    static_assert(Features > 0, "castnet: tied_dense needs at least one feature");

    bool has_bias = true;

    constexpr tied_dense_layer no_bias() const { return {false}; }

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(dense_takes<S>,
                      "castnet: tied_dense needs a vector (units) or a sequence (time, units); see "
                      "dense_takes<input shape>");
        if constexpr (dense_takes<S>) {
            using result = with_channels<S, Features>;
            ir::graph& g = *x.g;
            scope_guard const scope{g, layer_kind{"dense"}};
            auto const weight = new_parameter<shape<channels_of<S>, Features>>(
                g, "weight", {role::dense_weight, glorot_uniform});
            auto const y = detail::emit_operation<op::matmul_data, result>(
                g, -1, {detail::array_id(x), weight.id});
            auto const ordered = from_order_of(weight, y);
            return has_bias ? ordered + new_parameter<shape<Features>>(g, "tied_bias",
                                                                       {role::vector, zeros})
                            : ordered;
        } else {
            return symbol<shape<Features>>{x.g, x.id};
        }
    }
};

template <size_t Features>
inline constexpr tied_dense_layer<Features> tied_dense{};

} // namespace castnet
