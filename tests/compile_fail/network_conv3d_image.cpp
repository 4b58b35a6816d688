// Convolutions in three dimensions take volumes.
// expect: castnet: conv3d needs a volume \(channels, depth, height, width\)
// expect: is_volume<.*shape<3, ?5, ?5>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3, 5, 5>, cn::conv3d<8, 3>>;

auto count = net::parameter_count;
