// Operators of layers by themselves, without a symbol, which are refused with sentences.
#pragma once

#include <castnet/core/shape.hpp>

#include <concepts>

namespace castnet {

// Classes, so that every compiler prints the types.
template <class Layer>
struct layer_takes_no_arguments {
    static_assert(
        detail::never<Layer>,
        "castnet: this layer or metric takes no arguments in <>, since it finds the number "
        "of its features or classes by itself: cn::batch_norm, cn::macro_f1; see "
        "layer_takes_no_arguments<layer>");
};
template <class Layer>
struct layer_has_its_numbers_set {
    static_assert(detail::never<Layer>,
                  "castnet: this layer takes no numbers in <>, but by functions that return a "
                  "changed layer: cn::leaky_relu.slope(0.2), cn::elu.alpha(0.5), "
                  "cn::batch_norm.with_momentum(0.01); see layer_has_its_numbers_set<layer>");
};
template <class Layer, class Next>
struct layers_stand_in_a_block {
    static_assert(detail::never<Layer>,
                  "castnet: layer | layer: a layer of several layers is cn::block<cn::dense<8>, "
                  "cn::relu>, and x | layer applies one to a tensor; see "
                  "layers_stand_in_a_block<layer, layer>");
};

namespace detail {

template <class T>
concept NamedLayer = requires {
    { T::name } -> std::convertible_to<char const*>;
};

} // namespace detail

// cn::batch_norm<64> and cn::leaky_relu<0.2> are comparisons to C++. (Layers along an axis, such as
// softmax, say more.)
template <detail::NamedLayer Layer>
    requires(!requires(Layer const& layer) { layer.operator<(0); })
constexpr bool operator<(Layer const&, std::integral auto) {
    void(layer_takes_no_arguments<Layer>{});
    return false;
}
template <detail::NamedLayer Layer>
constexpr bool operator<(Layer const&, std::floating_point auto) {
    void(layer_has_its_numbers_set<Layer>{});
    return false;
}
template <detail::NamedLayer Layer, class Next>
constexpr Layer operator|(Layer const& layer, Next const&) {
    void(layers_stand_in_a_block<Layer, Next>{});
    return layer;
}

} // namespace castnet
