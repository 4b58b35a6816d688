// Tensors whose shapes do not broadcast cannot be added.
// expect: castnet: the shapes of two tensors do not fit together
// expect: can_broadcast<.*shape<2, ?3>, .*shape<2, ?4>
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3>> a;
    tensor<float, shape<2, 4>> b;
    tensor<float, shape<2, 3>> c = a + b;
}
