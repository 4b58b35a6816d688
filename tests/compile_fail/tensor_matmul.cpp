// The inner extents of a matrix product must agree.
// expect: castnet: matmul needs as many columns on the left as rows on the right
// expect: can_multiply<.*shape<2, ?3>, .*shape<4, ?5>
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3>> a;
    tensor<float, shape<4, 5>> b;
    auto c = matmul(a, b);
}
