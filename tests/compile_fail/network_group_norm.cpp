// The groups of a group normalisation divide the channels.
// expect: castnet: group_norm: the channels \(features\) cannot be divided into so many groups
// expect: groups_divide_channels<4(UL)?, (6(UL)?>|.*shape<6)
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 5, 5>, cn::group_norm<4>>;

auto count = net::parameter_count;
