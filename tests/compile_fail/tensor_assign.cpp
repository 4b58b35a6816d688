// A tensor cannot be assigned to one that it does not broadcast to.
// expect: castnet: cannot assign
// expect: can_assign<.*shape<2, ?3>, .*shape<3>
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3>> a;
    tensor<float, shape<3>> b;
    b = a;
}
