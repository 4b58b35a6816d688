// Fully connected layer, dense<Units>: x * weight^T + bias over the last axis (Keras' Dense,
// PyTorch's Linear).
//
// (features) becomes (units), (time, features) becomes (time, units), row_major_shape<heads, time,
// features> becomes row_major_shape<heads, time, units>.
// Parameters: weight (units, features), Glorot uniform; bias (units), zeros.
#pragma once

#include <castnet/graph/flattened.hpp>
#include <castnet/nn/weighted.hpp>

namespace castnet {

template <class Input>
inline constexpr bool dense_takes = Input::rank > 0 && !channels_first<Input>;

template <size_t Units>
struct dense_layer : weighted<dense_layer<Units>> {
    static constexpr char const* name = "dense";
    static_assert(Units > 0, "castnet: dense needs at least one unit");
    static constexpr size_t units = Units > 0 ? Units : 1; // one mistake is one error
    template <Shape S>
    using weight_shape = shape<units, channels_of<S>>;

    template <Symbol X>
    constexpr auto operator()(X x) const {
        using S = typename X::shape_type;
        static_assert(
            dense_takes<S>,
            "castnet: dense needs a vector (features) or a sequence (time, features); put "
            "cn::flatten before it, or cn::reshape_to<cn::row_major_shape<...>> where the last of "
            "several axes has the features; see dense_takes<input shape>");
        if constexpr (dense_takes<S>) {
            ir::graph& g = *x.g;
            scope_guard const scope{g, layer_kind{"dense"}};
            parameter_options options{role::dense_weight, this->weight_start, this->cost};
            options.pixels = flattened_pixels<X>;
            auto const weight = new_parameter<weight_shape<S>>(g, "weight", options);
            auto y = matmul(in_order_of(weight, x), weight);
            if (this->has_bias) {
                y = y + new_parameter<shape<units>>(g, "bias", {role::vector, this->bias_start});
            }
            return y;
        } else {
            return symbol<shape<units>>{x.g, x.id};
        }
    }
};

// A class, so that every compiler prints what was given.
template <size_t Units, auto... More>
struct dense_takes_units {
    static_assert(sizeof...(More) == 0,
                  "castnet: dense<units> takes the number of its units alone, since its features "
                  "are those of its input and an activation is a layer behind it, cn::dense<8>, "
                  "cn::relu; see dense_takes_units<units, more...>");
    static constexpr size_t units = Units;
};
template <size_t Units, auto... More>
inline constexpr dense_layer<dense_takes_units<Units, More...>::units> dense{};

} // namespace castnet
