// A checkpoint is that of a training, not of a model.
// expect: castnet: a checkpoint is that of a training: cn::checkpoint\(training, file\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1),
                            {.checkpoint = cn::checkpoint(model, "model.safetensors")});
