// An axis reversed twice is as it was.
// expect: castnet: flip takes each axis once: two reversals leave it as it is
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    auto const flipped = cn::flip<0, 0>(a);
}
