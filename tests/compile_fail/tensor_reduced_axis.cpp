// Axes are known to the compiler.
// expect: castnet: a reduction takes its axes as template arguments, as in sum<0>
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3>> x;
    auto y = castnet::sum(x, 0);
}
