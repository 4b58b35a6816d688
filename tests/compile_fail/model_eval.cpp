// PyTorch's mode of a module.
// expect: castnet: a model has no mode: it predicts as in evaluation
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

void predict(cn::model<net, cn::policy::cpu, cn::batch<8>>& model) {
    model.eval();
}
