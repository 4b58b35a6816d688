// A Hessian is multiplied with a vector of the argument's shape.
// expect: castnet: the vector of a product must have the shape of the function's result in vjp
// expect: vector_fits<.*shape<3.*shape<2
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<3>> const x{1, 2, 3};
    cn::tensor<float, cn::shape<2>> const v{1, 2};
    auto const product = cn::hvp([](auto t) { return cn::sum(t * t * t); }, v, x);
}
