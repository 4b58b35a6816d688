// Every window of pooling has something of the volume.
// expect: castnet: max_pool3d and avg_pool3d: the kernel is at least 1, and the padding is smaller
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 5, 5, 5>, cn::avg_pool3d<2, cn::pooling3{.padding = 2}>>;

auto count = net::parameter_count;
