// Spectral normalisation, spectral_norm<conv2d<64, 3>> (Miyato et al. 2018; PyTorch's
// parametrizations.spectral_norm, Keras' SpectralNormalization): a layer whose weight is divided by
// its largest singular value, as discriminators have them.
//
// The weight counts as a matrix with a row for each unit or filter. In each training step a power
// iteration moves two statistics on, u (units) and v (all others), and the singular value is
// u' weight v, whose gradient takes u and v for constants. Evaluation, predictions and frozen
// layers leave them as they are.
//
// Parameters: those of the layer; statistics u and v, normally distributed at first.
#pragma once

#include <castnet/graph/op/weight_values.hpp>
#include <castnet/nn/statistic.hpp>
#include <castnet/nn/weighted.hpp>

#include <utility>

namespace castnet {

template <class Layer, class Input>
inline constexpr bool has_weight_matrix =
    requires { typename Layer::template weight_shape<Input>; };

template <auto Layer>
struct spectral_norm_layer {
    static constexpr char const* name = "spectral_norm";
    double epsilon = 1e-12; // below this, a norm counts as this
    int iterations = 1;     // in each step

    constexpr spectral_norm_layer with_epsilon(double value) const { return {value, iterations}; }
    constexpr spectral_norm_layer power_iterations(int count) const { return {epsilon, count}; }

    template <Symbol X>
    constexpr auto operator()(X x) const {
        using layer = std::remove_cvref_t<decltype(Layer)>;
        using S = typename X::shape_type;
        static_assert(has_weight_matrix<layer, S>,
                      "castnet: spectral_norm takes one of the layers dense, conv1d, conv2d and "
                      "conv3d; see has_weight_matrix<layer, input shape>");
        if constexpr (!has_weight_matrix<layer, S>) {
            return x;
        } else {
            ir::graph& g = *x.g;
            auto const y = Layer.no_bias()(x); // times the weight
            int const weight = parameter_of_layer(g);
            path const outer = std::exchange(g.path.prefix, g.parameters[weight].name);
            g.path.prefix.depth -= 1;
            using shape_of_weight = typename layer::template weight_shape<S>;
            auto const normalized =
                y / largest_singular_value(symbol<shape_of_weight>{&g, g.parameters[weight].node});
            auto const result = with_bias(normalized);
            g.path.prefix = outer;
            return result;
        }
    }

private:
    // The one that was asked for last: new, or found again by a shared layer.
    static constexpr int parameter_of_layer(ir::graph const& g) {
        return (g.path.sharing > 0 ? g.path.next : g.parameters.size()) - 1;
    }

    template <Shape W>
    constexpr symbol<shape<>> largest_singular_value(symbol<W> weight) const {
        constexpr size_t rows = W::extent[0], columns = W::count / rows;
        ir::graph& g = *weight.g;
        g.expect(detail::is_finite_not_negative(epsilon), mistake::epsilon_of_norm);
        auto const matrix = reshaped(weight_values(weight), shape<rows, columns>{});
        auto const constant = stop_gradient(matrix);
        auto u = new_statistic<shape<rows>>(g, "u", random_normal(1));
        auto v = new_statistic<shape<columns>>(g, "v", random_normal(1));
        for (int i = 0; i < iterations && g.trains(); ++i) {
            u = update(u, normalized(times(constant, v)));
            v = update(v, normalized(times_rows_of(constant, u)));
        }
        return sum(u * times(matrix, v));
    }

    template <size_t Rows, size_t Columns>
    static constexpr symbol<shape<Rows>> times(symbol<shape<Rows, Columns>> matrix,
                                               symbol<shape<Columns>> v) {
        return reshaped(sum_channels(matrix * v), shape<Rows>{});
    }
    template <size_t Rows, size_t Columns>
    static constexpr symbol<shape<Columns>> times_rows_of(symbol<shape<Rows, Columns>> matrix,
                                                          symbol<shape<Rows>> u) {
        return sum_pixels(matrix * reshaped(u, shape<Rows, 1>{}));
    }
    template <class S>
    constexpr symbol<S> normalized(symbol<S> x) const {
        return x / maximum(sqrt(sum(square(x))), epsilon);
    }

    template <Shape S>
    static constexpr symbol<S> with_bias(symbol<S> y) {
        if (!Layer.has_bias) {
            return y;
        }
        return y + along_channels<S>(new_parameter<shape<channels_of<S>>>(
                       *y.g, "bias", {role::vector, Layer.bias_start}));
    }
};

template <auto Layer>
inline constexpr spectral_norm_layer<Layer> spectral_norm{};

} // namespace castnet
