// A window fits into the sequence.
// expect: castnet: pooling: the kernel is larger than its input \(time, features\)
// expect: kernel_within<.*kernel<7>, .*shape<5, ?2>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5, 2>, cn::max_pool1d<7>>;

auto count = net::parameter_count;
