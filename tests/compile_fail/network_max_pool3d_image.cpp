// Pooling in three dimensions takes volumes.
// expect: castnet: pooling and up-sampling in three dimensions need a volume
// expect: is_volume<.*shape<3, ?5, ?5>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3, 5, 5>, cn::max_pool3d<2>>;

auto count = net::parameter_count;
