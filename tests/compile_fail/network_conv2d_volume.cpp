// Convolutions of images take no volumes.
// expect: castnet: conv2d needs an image \(channels, height, width\)
// expect: at_layer<1,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 5, 5, 5>, cn::conv3d<8, 3>, cn::conv2d<8, 3>>;

auto count = net::parameter_count;
