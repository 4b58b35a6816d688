// The places of a window lie apart.
// expect: castnet: conv2d: kernel, stride, dilation and groups are at least 1
// expect: conv2d_layer<8,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net =
    cn::sequential<cn::input<1, 5, 5>, cn::conv2d<8, 3, cn::conv{.dilation = 0}>, cn::flatten>;

auto count = net::parameter_count;
