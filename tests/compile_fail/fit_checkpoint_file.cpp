// A checkpoint is of a training.
// expect: castnet: the checkpoint of a fit names the training, too: \{\.checkpoint = cn::checkpoint\(training
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.checkpoint = "training.safetensors"});
