// A pooling window fits into the image.
// expect: castnet: pooling: the kernel is larger than its input
// expect: kernel_within<.*kernel<4, ?4>, .*shape<8, ?3, ?3>
// expect-g++: at_layer<1,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 5, 5>, cn::conv2d<8, 3>, cn::max_pool2d<4>>;

auto count = net::parameter_count;
