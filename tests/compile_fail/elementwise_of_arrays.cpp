// Element-wise functions of two arguments neither take arrays.
// expect: castnet: element-wise functions take numbers, tensors and the symbols of a network
// expect: elementwise_takes<.*array<float, ?3
#include <castnet/castnet.hpp>

namespace cn = castnet;

std::array<float, 3> numbers{};
auto positive = cn::maximum(numbers, 0.0F);
