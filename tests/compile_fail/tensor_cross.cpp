// Vector products are those of vectors of three elements.
// expect: castnet: cross takes vectors of three elements along the last axis
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<3, 2>> a;
    auto const c = cross(a, a);
}
