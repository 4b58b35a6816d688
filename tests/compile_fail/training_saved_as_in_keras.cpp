// A checkpoint is written by a function.
// expect: castnet: what is done with a training are functions: cn::save\(training, file\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

void train(cn::model<net, cn::policy::cpu, cn::batch<8>>& model) {
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    training.save("file.safetensors");
}
