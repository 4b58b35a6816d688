// Parameters have names.
// expect: castnet: found a number, expected a name
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<1>>;

void train(cn::model<net, cn::policy::cpu, cn::batch<1>>& model) {
    auto training = cn::compile(model, cn::mse, cn::sgd{});
    training.freeze(0);
}
