// Losses of logits apply softmax themselves.
// expect: castnet: the network ends in softmax, log_softmax or sigmoid
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<10>, cn::softmax>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
