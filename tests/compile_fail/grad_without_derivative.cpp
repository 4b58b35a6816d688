// A function must depend on what it is differentiated with respect to.
// expect: castnet: grad: the function does not depend on an argument that it is differentiated with respect to
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<3>> const x{1, 2, 3};
    auto const slope = cn::grad([](auto v) { return cn::sum(cn::greater(v, 0)); }, x);
}
