// Tensors are copied between devices by name.
// expect: castnet: the right side lies on another device than the left one
// expect: on_same_device<.*cpu, .*cuda>
#include <castnet/device/cuda/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<3>, device::cuda> const x;
    tensor<float, shape<3>> y;
    y = x;
}
