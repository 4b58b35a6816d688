// The axes of an image are channels, height, width.
// expect: castnet: conv2d: the kernel is larger than its input \(channels, height, width\)
// expect: kernel_within<.*kernel<3(UL)?, ?3(UL)?>, .*shape<28(UL)?, ?28(UL)?, ?1(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<28, 28, 1>, cn::conv2d<32, 3>>;

auto count = net::parameter_count;
