// An expression has no elements yet.
// expect: castnet: an expression is computed where it is assigned, so there is no element
// expect: has_elements_in_memory<.*shape<2, ?3>
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a, b;
    auto const first = (a + b)(0, 1);
}
