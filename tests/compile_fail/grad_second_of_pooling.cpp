// Pooling has a gradient, which has none.
// expect: castnet: an operation between the result and what it is differentiated with respect to has no gradient
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<4, 3>> const x = cn::random_normal<float, cn::shape<4, 3>>(1);
    auto const f = [](auto v) { return cn::sum(cn::square(v | cn::max_pool1d<2>)); };
    auto const product = cn::hvp(f, x, x);
}
