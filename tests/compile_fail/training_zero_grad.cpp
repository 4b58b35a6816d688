// A step is gradients and update.
// expect: castnet: training\.step\(data, samples\) computes gradients from zero and updates the parameters
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

void train(cn::model<net, cn::policy::cpu, cn::batch<8>>& model) {
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    training.zero_grad();
}
