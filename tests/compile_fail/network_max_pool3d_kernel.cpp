// A window of pooling is no larger than the volume.
// expect: castnet: max_pool3d and avg_pool3d: the kernel is larger than the input
// expect: kernel_within<.*kernel<2, ?2, ?2>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 1, 5, 5>, cn::max_pool3d<2>>;

auto count = net::parameter_count;
