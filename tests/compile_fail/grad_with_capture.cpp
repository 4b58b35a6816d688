// A function that is differentiated is known while compiling.
// expect: castnet: grad: the function must be known while compiling: a lambda without captures
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    double const scale = 2;
    cn::tensor<float, cn::shape<3>> const x{1, 2, 3};
    auto const slope = cn::grad([&](auto v) { return cn::sum(v) * scale; }, x);
}
