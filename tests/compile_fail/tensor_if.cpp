// A comparison of tensors is a tensor.
// expect: castnet: a tensor is no single answer for if, \?:, &&, \|\| and !: cn::all\(a == b\)
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a, b;
    return a == b ? 0 : 1;
}
