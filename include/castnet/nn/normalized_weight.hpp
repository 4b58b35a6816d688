// Layers with a normalised weight. Dense layers and convolutions are linear in their weight, so
// that their results are scaled in its place, or, of transposed convolutions, what they get.
#pragma once

#include <castnet/graph/op/weight_values.hpp>
#include <castnet/nn/permute.hpp>
#include <castnet/nn/scope.hpp>

#include <type_traits>
#include <utility>

namespace castnet {

template <class Layer, class Input>
inline constexpr bool has_weight_matrix =
    requires { typename Layer::template weight_shape<Input>; };

namespace detail {

template <class Layer>
inline constexpr bool is_transposed_layer = requires { Layer::filters_axis; };

// The elements of a weight that differ in axes after this one, the first or second.
template <Shape W, size_t Axis>
inline constexpr size_t elements_after = W::count / W::extent[0] / (Axis == 0 ? 1 : W::extent[1]);

// A weight as a matrix with a row for each element of its first or second axis.
template <size_t Axis, Shape W>
constexpr auto weight_matrix(symbol<W> weight) {
    constexpr size_t rows = W::extent[Axis], n = elements_after<W, Axis>, columns = W::count / rows;
    auto const values = weight_values(weight);
    if constexpr (Axis == 0) {
        return reshaped(values, shape<rows, columns>{});
    } else {
        auto const of_axes = reshaped(values, row_major_shape<columns / n, rows, n>{});
        return reshaped(permute<1, 0, 2>(of_axes), shape<rows, columns>{});
    }
}

// The parameter that was asked for last: new, or found again by a shared layer.
constexpr int last_parameter(ir::graph const& g) {
    return (g.path.sharing > 0 ? g.path.next : g.parameters.size()) - 1;
}

// The layer with scaled(y, weight) of its product y with its weight or, of a transposed
// convolution, with scaled(x, weight). The parameters that `scaled` makes stand beside the weight.
// (After the complaint of a layer without a weight, go on with x.)
template <auto Layer, Symbol X, class Scaled>
constexpr auto with_scaled_product(X x, Scaled const& scaled) {
    using S = typename X::shape_type;
    using layer = std::remove_cvref_t<decltype(Layer)>;
    if constexpr (!has_weight_matrix<layer, S>) {
        return x;
    } else if constexpr (is_transposed_layer<layer>) {
        return Layer.with_scaled_input(x, scaled);
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
