// Groups of a convolution over a volume share the channels out.
// expect: castnet: the channels and filters of a convolution must be multiples of its groups
// expect: groups_divide<3(UL)?, 8(UL)?, 2(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3, 5, 5, 5>, cn::conv3d<8, 3, cn::conv3{.groups = 2}>>;

auto count = net::parameter_count;
