// A tensor of samples has the extents of the input behind its first axis.
// expect: castnet: predict: a tensor has the shape of an input of the network
// expect: tensor_fits_input<false, .*shape<4>, .*shape<8, ?5>
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::model<cn::sequential<cn::input<4>, cn::dense<3>>, cn::policy::cpu, cn::batch<8>> model;
    model.predict(cn::tensor<float, cn::shape<8, 5>>());
}
