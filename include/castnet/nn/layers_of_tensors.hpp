// Layers applied to tensors of the program, tensor | layer, which is refused with a sentence.
#pragma once

#include <castnet/graph/symbol.hpp>
#include <castnet/tensor/tensor_base.hpp>

namespace castnet {

// A class, so that every compiler prints the type.
template <class Layer>
struct layer_takes_symbols {
    static_assert(detail::never<Layer>,
                  "castnet: x | layer is for the symbols of a network: a tensor goes through a "
                  "model, model.predict(x), and element-wise functions take it as cn::relu(x); see "
                  "layer_takes_symbols<layer>");
};

template <TensorExpression X, class Layer>
    requires requires(Layer const& layer, symbol<typename X::shape_type> x) { layer(x); }
X operator|(X const& x, Layer const&) {
    void(layer_takes_symbols<Layer>{});
    return x;
}

} // namespace castnet
