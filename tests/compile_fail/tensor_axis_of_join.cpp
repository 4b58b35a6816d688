// Tensors are joined along an axis that is a template argument.
// expect: castnet: shapes are known while compiling, so axes, extents and counts stand before
// expect: is_written<.*"concatenate<axis>\(x, y\.\.\.\)"
// expect: is_written<.*"stack<axis>\(x, y\.\.\.\)"
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a, b;
    auto const longer = cn::concatenate(a, b);
    auto const pile = cn::stack<0>(a, b, 1);
}
