// Sorting and sums so far are along the last axis.
// expect: castnet: this function works along the last axis and takes a tensor only
// expect: works_along_last_axis<.*"sort\(transpose\(x\)\)"
// expect: works_along_last_axis<.*"argsort\(transpose\(x\)\)"
// expect: works_along_last_axis<.*"cumsum\(transpose\(x\)\)"
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    auto const sorted = cn::sort(a, 0);
    auto const places = cn::argsort<1>(a);
    auto const sums = cn::cumsum<0>(a);
}
