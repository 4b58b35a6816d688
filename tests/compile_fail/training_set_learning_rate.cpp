// The learning rate of PyTorch's and Keras' optimizers is set.
// expect: castnet: the learning rate is that of the optimizer, cn::adam\{\.learning_rate = 1e-3\}, of fit.s schedule
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

void train(cn::model<net, cn::policy::cpu, cn::batch<8>>& model) {
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    training.set_learning_rate(1e-4);
}
