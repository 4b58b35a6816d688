// Every window of pooling has steps.
// expect: castnet: pooling: the kernel is at least 1, and the padding is smaller than it
// expect: pool1d_layer<
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5, 2>,
                           cn::avg_pool1d<2, cn::pooling{.stride = 1, .padding = 2}>, cn::flatten>;

auto count = net::parameter_count;
