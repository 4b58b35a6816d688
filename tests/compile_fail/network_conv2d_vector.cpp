// A convolution takes images.
// expect: castnet: conv2d needs an image \(channels, height, width\)
// expect: is_image<.*shape<784>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<784>, cn::conv2d<8, 3>>;

auto count = net::parameter_count;
