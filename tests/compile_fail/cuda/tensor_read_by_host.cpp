// The host does not read elements of a GPU's memory.
// expect: castnet: the host cannot read elements of a tensor on a GPU
#include <castnet/device/cuda/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3>, device::cuda> const x;
    auto const first = x.view()(0, 0);
}
