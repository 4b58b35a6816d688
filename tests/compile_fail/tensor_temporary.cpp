// A view does not outlive the tensor it shows.
// expect: castnet: a view of a temporary tensor would outlive it: give it a name
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    auto b = transpose(tensor<float, shape<2, 3>>::ones());
}
