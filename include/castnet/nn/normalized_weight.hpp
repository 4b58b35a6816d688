// Layers with a normalised weight. Dense layers and convolutions are linear in their weight, so
// that their results are scaled in its place.
#pragma once

#include <castnet/graph/op/weight_values.hpp>
#include <castnet/nn/scope.hpp>

#include <type_traits>
#include <utility>

namespace castnet {

template <class Layer, class Input>
inline constexpr bool has_weight_matrix =
    requires { typename Layer::template weight_shape<Input>; };

namespace detail {

// A weight as a matrix with a row for each unit or filter.
template <Shape W>
constexpr auto weight_matrix(symbol<W> weight) {
    constexpr size_t rows = W::extent[0], columns = W::count / rows;
    return reshaped(weight_values(weight), shape<rows, columns>{});
}

// The parameter that was asked for last: new, or found again by a shared layer.
constexpr int last_parameter(ir::graph const& g) {
    return (g.path.sharing > 0 ? g.path.next : g.parameters.size()) - 1;
}

// scaled(y, weight) of the layer's product y with its weight, with the layer's bias. The parameters
// that `scaled` makes stand beside the weight. (After the complaint of a layer without a weight, go
// on with x.)
template <auto Layer, Symbol X, class Scaled>
constexpr auto with_scaled_product(X x, Scaled const& scaled) {
    using S = typename X::shape_type;
    using layer = std::remove_cvref_t<decltype(Layer)>;
    if constexpr (!has_weight_matrix<layer, S>) {
        return x;
    } else {
        using weight_shape = typename layer::template weight_shape<S>;
        ir::graph& g = *x.g;
        auto const product = Layer.no_bias()(x);
        using result = std::remove_cvref_t<decltype(product)>;
        int const weight = last_parameter(g);
        path const outer = std::exchange(g.path.prefix, g.parameters[weight].name);
        g.path.prefix.depth -= 1;
        result y = scaled(product, symbol<weight_shape>{&g, g.parameters[weight].node});
        if (Layer.has_bias) {
            using R = typename result::shape_type;
            y = y + along_channels<R>(new_parameter<shape<channels_of<R>>>(
                        g, "bias", {role::vector, Layer.bias_start}));
        }
        g.path.prefix = outer;
        return y;
    }
}

} // namespace detail

} // namespace castnet
