// A function takes a symbol for each argument.
// expect: castnet: grad: the function cannot be called with these arguments
// expect: function_takes<
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<3>> const x{1, 2, 3};
    auto const slope = cn::grad([](auto v, auto w) { return cn::sum(v * w); }, x);
}
