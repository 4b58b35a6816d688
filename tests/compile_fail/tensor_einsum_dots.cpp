// The text has a letter for each axis.
// expect: castnet: einsum names axes by letters, .* it does not support "\.\.\."
// expect: einsum_fits<.*"\.\.\.ij->\.\.\.ji"
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3, 4>> a;
    auto c = einsum<"...ij -> ...ji">(a);
}
