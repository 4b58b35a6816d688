// The function of a product is computed element by element.
// expect: castnet: matmul: the function of a product is element-wise: for sums or other
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3>> a;
    tensor<float, shape<3, 5>> b;
    auto c = matmul(a, b, [](auto y) { return y - mean<1>(y, keepdims); });
}
