// Tensors have no operator %.
// expect: castnet: tensors have no operator %: cn::remainder\(a, b\)
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    auto const rest = a % 2;
}
