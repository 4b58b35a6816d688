// Axes of extent 1 are added and taken away by template arguments.
// expect: castnet: shapes are known while compiling, so axes, extents and counts stand before
// expect: is_written<.*"expand_dims<axis>\(x\)"
// expect: is_written<.*"squeeze<axis>\(x\)"
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    auto const more = cn::expand_dims(a, 0);
    auto const less = cn::squeeze(a);
}
