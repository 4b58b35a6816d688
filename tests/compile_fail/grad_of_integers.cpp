// Only real numbers have derivatives.
// expect: castnet: grad: the arguments must be of type float or double
// expect: arguments_are_real<int>
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<int, cn::shape<3>> const x{1, 2, 3};
    auto const slope = cn::grad([](auto v) { return cn::sum(v * v); }, x);
}
