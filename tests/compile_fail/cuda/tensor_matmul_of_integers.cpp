// cuBLASLt multiplies matrices of floats or doubles.
// expect: castnet: matmul on a GPU multiplies floats or doubles
#include <castnet/device/cuda/tensor.hpp>

using namespace castnet;

int main() {
    tensor<int, shape<2, 2>, device::cuda> const x;
    auto const y = matmul(x, x);
}
