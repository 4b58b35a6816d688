// Stream output of tensors. Apart from the other headers, which need no streams.
#pragma once

#include <castnet/tensor/to_string.hpp>

#include <ostream>

namespace castnet {

template <TensorExpression X>
std::ostream& operator<<(std::ostream& out, X const& x) {
    return out << to_string(x);
}

} // namespace castnet
