// Up-sampling makes at least one pixel of each.
// expect: castnet: upsample2d: the factor is 0
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<2, 6, 5>, cn::upsample2d<0>>;

auto count = net::parameter_count;
