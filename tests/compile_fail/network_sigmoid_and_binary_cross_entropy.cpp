// Losses of logits apply the sigmoid themselves.
// expect: castnet: the network ends in softmax, log_softmax or sigmoid
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3, 2, 2>, cn::sigmoid, cn::flatten>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::binary_cross_entropy, cn::adam{});
