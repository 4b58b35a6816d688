// Tensors on a GPU need a header.
// expect: castnet: a tensor lies on device::cpu, or with #include <castnet/cuda.hpp> on
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<3>, device::cuda> x;
}
