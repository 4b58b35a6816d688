// The softmax of a tensor is along the last axis.
// expect: castnet: softmax and log_softmax work along the last axis
// expect: softmax_axis_is_named<.*"softmax.along<0>\(x\)"
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    auto const shares = cn::softmax(a, 0);
}
