// The softmax of a tensor is along the last axis.
// expect: castnet: this function works along the last axis and takes a tensor only
// expect: works_along_last_axis<.*"softmax\(transpose\(x\)\)"
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    auto const shares = cn::softmax(a, 0);
}
