// A kernel fits into the image.
// expect: castnet: conv2d: the kernel is larger than its input
// expect: kernel_within<.*kernel<7, ?7>, .*shape<1, ?5, ?5>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 5, 5>, cn::conv2d<8, 7>>;

auto count = net::parameter_count;
