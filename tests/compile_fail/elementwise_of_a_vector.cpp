// Element-wise functions take tensors, not vectors.
// expect: castnet: element-wise functions take numbers, tensors and the symbols of a network
// expect: elementwise_takes<.*vector<float
#include <castnet/castnet.hpp>

namespace cn = castnet;

std::vector<float> numbers(3);
auto positive = cn::relu(numbers);
