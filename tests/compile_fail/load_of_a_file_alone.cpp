// A file holds weights, not the network.
// expect: castnet: load\(model, file\) gives a model the weights of a file; the network is the model's type
#include <castnet/castnet.hpp>

namespace cn = castnet;

void begin() {
    cn::load("model.safetensors");
}
