// A view does not outlive the tensor it shows, and shows none of an expression.
// expect: castnet: a view of a temporary tensor would outlive it: give it a name
// expect: castnet: an expression has no elements to view: make a tensor of it that has a name
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    auto b = transpose(tensor<float, shape<2, 3>>::ones());
    tensor<float, shape<3>> row;
    auto const column = expand_dims<1>(2 * row) + 1;
}
