// A function that is differentiated gives one number.
// expect: castnet: grad: the function must give one number
// expect: function_gives_number<.*symbol<.*shape<3
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<3>> const x{1, 2, 3};
    auto const slope = cn::grad([](auto v) { return cn::exp(v); }, x);
}
