// What is mirrored has positions enough.
// expect: castnet: reflection_pad takes fewer positions than the axis has
// expect: border_fits<5(UL)?, ?4(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 5, 5>, cn::reflection_pad2d<5>>;

auto count = net::parameter_count;
