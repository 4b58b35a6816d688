// A data set of tensors has views of them.
// expect: castnet: data::of_tensors keeps views of the elements: give temporary tensors names
#include <castnet/castnet.hpp>

using namespace castnet;

int main() {
    auto const targets = tensor<float, shape<5>>::ones();
    auto const data = data::of_tensors(tensor<float, shape<5, 2>>::ones(), targets);
}
