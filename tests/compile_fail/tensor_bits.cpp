// Masks are numbers, without operators of bits.
// expect: castnet: tensors have no operators of bits, and masks are numbers, 1 or 0: a \* b for a & b
// expect: masks_are_numbers<
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a, b;
    auto const either = (a > 0) | (b > 0);
}
