// Weight normalisation, weight_norm<conv1d<64, 3>> (Salimans & Kingma 2016; PyTorch's
// parametrizations.weight_norm): a layer whose weight is g v / |v|, with the norm of each unit's or
// filter's row and a trained length of its own, as networks for audio have them. The rows of a
// transposed convolution are those of its channels, as in PyTorch.
//
// Parameters: those of the layer, of which `weight` is v (PyTorch's original1), and `g` (units, or
// channels; original0), which starts as the norms, so that the layer starts as it would without.
#pragma once

#include <castnet/nn/normalized_weight.hpp>

namespace castnet {

template <auto Layer>
struct weight_norm_layer {
    static constexpr char const* name = "weight_norm";

    template <Symbol X>
    constexpr auto operator()(X x) const {
        using layer = std::remove_cvref_t<decltype(Layer)>;
        using S = typename X::shape_type;
        static_assert(
            has_weight_matrix<layer, S>,
            "castnet: weight_norm takes dense, depthwise_conv2d, conv1d, conv2d, conv3d "
            "or their transposed ones, and separable_conv2d<4, 3> is depthwise_conv2d<3> and "
            "conv2d<4, 1>; see has_weight_matrix<layer, input shape>");
        return detail::with_scaled_product<Layer>(x, []<class Y, class W>(Y y, W weight) {
            using rows = shape<W::shape_type::extent[0]>;
            auto const lengths =
                reshaped(sqrt(sum_channels(square(detail::weight_matrix<0>(weight)))), rows{});
            auto const g =
                new_parameter<rows>(*y.g, "g", {.start = initializer{initial::norms_of_rows}});
            return y * along_channels<typename Y::shape_type>(g / lengths);
        });
    }
};

template <auto Layer>
inline constexpr weight_norm_layer<Layer> weight_norm{};

} // namespace castnet
