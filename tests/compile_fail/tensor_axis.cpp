// A reduction is over axes that the tensor has.
// expect: castnet: a reduction needs different axes, each less than the tensor's rank
// expect: has_distinct_axes<.*shape<2, ?3>, 2
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3>> a;
    auto b = sum<2>(a);
}
