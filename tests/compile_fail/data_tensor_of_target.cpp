// A tensor of features alone: which is the target?
// expect: castnet: data::of_tensors takes a tensor for each input and then one for each target
#include <castnet/data/tensors.hpp>
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

auto const x = tensor<float, shape<5, 2>>::ones();
auto const data = data::of_tensors(x);
