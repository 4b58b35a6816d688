// The function of a product gives an expression of the product's shape.
// expect: castnet: matmul: the function of a product gives an expression of the product's shape
// expect: is_of_each_element<.*shape<2, ?5>
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3>> a;
    tensor<float, shape<3, 5>> b;
    tensor<float, shape<4, 2, 5>> bias;
    auto c = matmul(a, b, [&](auto y) { return y + bias; });
}
