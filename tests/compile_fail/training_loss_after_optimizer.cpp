// A training is made of a model, a loss and an optimizer, in this order.
// expect: castnet: cn::training is made of a model, a loss and an optimizer, in this order: cn::training training\{model, cn::cross_entropy, cn::adam\{\}\}
// expect: is_training_of<.*adam, .*cross_entropy
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<2>, cn::dense<3>>;

void train(cn::model<net, cn::policy::cpu, cn::batch<8>>& model) {
    cn::training training{model, cn::adam{}, cn::cross_entropy};
}
