// Gradient for an optimizer's rule: of the mean loss plus the parameter's penalty.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/graph/parameter.hpp>

namespace castnet::ir {

// V is a number or, where the compiler has them, a vector; g is a sum over samples, `scale` 1 / the
// sum of their weights.
template <class V, class T>
CASTNET_HD V penalized_gradient(V g, T scale, V p, T l1, T two_l2) {
    V const zero{};
    V const of_l1 = p > zero ? zero + l1 : p < zero ? zero - l1 : zero;
    return g * scale + two_l2 * p + of_l1;
}

} // namespace castnet::ir
