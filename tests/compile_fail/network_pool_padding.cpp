// Every window of pooling has pixels.
// expect: castnet: pooling: the kernel is at least 1, and the padding is smaller than it
// expect: pool2d_layer<
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 5, 5>,
                           cn::max_pool2d<2, cn::pooling{.stride = 1, .padding = 2}>, cn::flatten>;

auto count = net::parameter_count;
