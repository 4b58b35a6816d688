// Global pooling takes images.
// expect: castnet: pooling and up-sampling need an image \(channels, height, width\)
// expect: is_image<.*shape<784>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<784>, cn::global_avg_pool2d>;

auto count = net::parameter_count;
