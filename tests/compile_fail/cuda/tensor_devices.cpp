// Tensors of an expression lie on one device.
// expect: castnet: the tensors of an expression lie on different devices
// expect: on_same_device<.*cuda, .*cpu>
#include <castnet/device/cuda/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<3>, device::cuda> const x;
    tensor<float, shape<3>> const y;
    auto const z = x + y;
}
