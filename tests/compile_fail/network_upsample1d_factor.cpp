// Up-sampling makes at least one step of each.
// expect: castnet: upsample1d: the factor is 0
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5, 3>, cn::upsample1d<0>>;

auto count = net::parameter_count;
