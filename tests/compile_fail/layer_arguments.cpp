// Layers find the number of their features by themselves.
// expect: castnet: this layer takes no arguments in <>
// expect: layer_takes_no_arguments<.*batch_norm_layer
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<8>, cn::batch_norm<8>, cn::relu, cn::dense<2>>;

auto count = net::parameter_count;
