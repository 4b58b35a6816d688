// Bounds on elements: clip(x, low, high).
#pragma once

#include <castnet/graph/symbol_operators.hpp>

#include <type_traits>

namespace castnet {

// min(max(x, low), high), as torch.clamp. Where x equals a bound, its derivative is 0 if the bounds
// are numbers; if one is a symbol, x and the bound share the derivative equally.
template <Symbol X, class Low, class High>
constexpr auto clip(X x, Low low, High high) {
    if constexpr (std::is_arithmetic_v<Low> && std::is_arithmetic_v<High>) {
        return apply(function<fn::clip>{}, x, low, high);
    } else {
        return minimum(maximum(x, low), high);
    }
}

} // namespace castnet
