// A sum over all axes by name is a tensor.
// expect: castnet: a tensor of no axes is no number: x\.item\(\) is its element
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<3>> v;
    float const total = cn::sum<0>(v);
}
