// Masks are tensors, and the operators of logic want one answer.
// expect: castnet: a tensor is no single answer for if, \?:, &&, \|\| and !: cn::all\(a == b\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a, b;
    auto const both = !(a > 0) && b > 0;
}
