// Base class of layers with a weight and a bias: initialisers, penalty, and whether there is a
// bias. Each setter returns a changed copy: dense<64>.init(he_normal).l2(1e-4).
#pragma once

#include <castnet/nn/initializers.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

template <class Layer>
struct weighted {
    initializer weight_start = glorot_uniform; // Keras' default
    initializer bias_start = zeros;
    penalty cost{};
    bool has_bias = true;

    constexpr Layer init(initializer weight) const {
        return changed([&](weighted& w) { w.weight_start = weight; });
    }
    constexpr Layer init_bias(initializer bias) const {
        return changed([&](weighted& w) { w.bias_start = bias; });
    }
    constexpr Layer l1(double factor) const {
        return changed([&](weighted& w) { w.cost.l1 = static_cast<float>(factor); });
    }
    constexpr Layer l2(double factor) const {
        return changed([&](weighted& w) { w.cost.l2 = static_cast<float>(factor); });
    }
    constexpr Layer no_bias() const {
        return changed([](weighted& w) { w.has_bias = false; });
    }

private:
    template <class Change>
    constexpr Layer changed(Change change) const {
        Layer copy = static_cast<Layer const&>(*this);
        change(static_cast<weighted&>(copy));
        return copy;
    }
};

} // namespace castnet
