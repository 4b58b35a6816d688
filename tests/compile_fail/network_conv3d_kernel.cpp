// The kernel is no larger than the volume.
// expect: castnet: conv3d: the kernel is larger than its input
// expect: kernel_within<.*kernel<3, ?3, ?3>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 2, 5, 5>, cn::conv3d<8, 3>>;

auto count = net::parameter_count;
