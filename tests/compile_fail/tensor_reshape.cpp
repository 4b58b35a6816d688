// Reshaping keeps the number of elements.
// expect: castnet: reshape must keep the number of elements
// expect: same_count<.*shape<2, ?3>, .*shape<4, ?2>
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3>> a;
    auto b = reshape<4, 2>(a);
}
