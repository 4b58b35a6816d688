// Adaptive pooling leaves some pixels.
// expect: castnet: adaptive pooling: the result has no pixels
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<2, 6, 5>, cn::adaptive_avg_pool2d<0>>;

auto count = net::parameter_count;
