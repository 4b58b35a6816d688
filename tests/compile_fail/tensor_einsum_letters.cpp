// An operand has a letter for each of its axes.
// expect: castnet: einsum needs, for each operand, a letter for each of its axes
// expect: einsum_fits<.*"ij,j->i"
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3, 4>> a;
    tensor<float, shape<3>> b;
    auto c = einsum<"ij,j->i">(a, b);
}
