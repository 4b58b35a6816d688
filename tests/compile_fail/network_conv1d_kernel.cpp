// A kernel fits into the sequence.
// expect: castnet: conv1d: the kernel is larger than its input
// expect: kernel_within<.*kernel<7>, .*shape<5, ?2>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5, 2>, cn::conv1d<8, 7>>;

auto count = net::parameter_count;
