// Axes with the same letter have the same extent.
// expect: castnet: einsum: the axes of one letter differ in their extents
// expect: einsum_fits<.*"ij,jk->ik".*shape<2, ?3>.*shape<4, ?5>
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3>> a;
    tensor<float, shape<4, 5>> b;
    auto c = einsum<"ij,jk->ik">(a, b);
}
