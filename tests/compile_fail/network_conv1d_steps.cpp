// A window of no steps is none.
// expect: castnet: conv1d: kernel, stride, dilation and groups are at least 1
// expect: conv1d_layer<8, ?0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5, 2>, cn::conv1d<8, 0>, cn::flatten>;

auto count = net::parameter_count;
