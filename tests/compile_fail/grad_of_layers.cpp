// Layers with parameters belong to a model.
// expect: castnet: grad: the function has layers with parameters
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<3>> const x{1, 2, 3};
    auto const slope = cn::grad([](auto v) { return cn::sum(v | cn::dense<2>); }, x);
}
