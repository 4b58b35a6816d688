// What sorts has no derivative.
// expect: castnet: this function takes tensors only, not symbols, since it has no derivative here
// expect: function_takes_symbols<.*"sort"
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<3>> const x{1, 2, 3};
    auto const slope = cn::grad([](auto v) { return cn::sum(cn::sort(v) * v); }, x);
}
