// Arguments count from 0.
// expect: castnet: grad<by...>: the function has no such argument
// expect: function_has_arguments<1(UL)?, 1(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<3>> const x{1, 2, 3};
    auto const slope = cn::grad<1>([](auto v) { return cn::sum(v); }, x);
}
