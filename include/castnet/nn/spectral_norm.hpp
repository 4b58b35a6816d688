// Spectral normalisation, spectral_norm<conv2d<64, 3>> (Miyato et al. 2018; PyTorch's
// parametrizations.spectral_norm, Keras' SpectralNormalization): a layer whose weight is divided by
// its largest singular value, as discriminators have them.
//
// The weight counts as a matrix with a row for each unit or filter (of a group, where the
// convolution is transposed, as in PyTorch). In each training step a power iteration moves two
// statistics on, u (units) and v (all others), and the singular value is u' weight v, whose
// gradient takes u and v for constants. Evaluation, predictions and frozen layers leave them as
// they are.
//
// Parameters: those of the layer; statistics u and v, which start as PyTorch's after 15 power
// iterations from random vectors.
#pragma once

#include <castnet/nn/normalized_weight.hpp>
#include <castnet/nn/statistic.hpp>

namespace castnet {

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
        static_assert(
            has_weight_matrix<layer, S>,
            "castnet: spectral_norm takes dense, depthwise_conv2d, conv1d, conv2d, conv3d "
            "or their transposed ones, and separable_conv2d<4, 3> is depthwise_conv2d<3> and "
            "conv2d<4, 1>; see has_weight_matrix<layer, input shape>");
        return detail::with_scaled_product<Layer>(
            x, [this](auto y, auto weight) { return y / this->largest_singular_value(weight); });
    }

private:
    template <Shape W>
    constexpr symbol<shape<>> largest_singular_value(symbol<W> weight) const {
        constexpr size_t axis =
            detail::is_transposed_layer<std::remove_cvref_t<decltype(Layer)>> ? 1 : 0;
        constexpr size_t rows = W::extent[axis], columns = W::count / rows;
        constexpr auto neighbours = static_cast<float>(detail::elements_after<W, axis>);
        ir::graph& g = *weight.g;
        g.expect(detail::is_finite_not_negative(epsilon), mistake::epsilon_of_norm);
        auto const matrix = detail::weight_matrix<axis>(weight);
        auto const constant = stop_gradient(matrix);
        auto u = new_statistic<shape<rows>>(g, "u", {initial::left_singular_vector, neighbours});
        auto v =
            new_statistic<shape<columns>>(g, "v", {initial::right_singular_vector, neighbours});
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
};

template <auto Layer>
inline constexpr spectral_norm_layer<Layer> spectral_norm{};

} // namespace castnet
