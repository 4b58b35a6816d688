// The first argument is the model, not the network.
// expect: castnet: compile\(model, loss, optimizer, metrics\.\.\.\): the first argument is not a cn::model
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

net network;
auto training = cn::compile(network, cn::cross_entropy, cn::adam{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.epochs = 3});
