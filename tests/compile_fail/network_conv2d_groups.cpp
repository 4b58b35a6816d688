// Groups divide the channels.
// expect: castnet: the channels and filters of a convolution must be multiples of its groups
// expect: groups_divide<6(UL)?, 8(UL)?, 4(UL)?>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 5, 5>, cn::conv2d<8, 3, cn::conv{.groups = 4}>>;

auto count = net::parameter_count;
