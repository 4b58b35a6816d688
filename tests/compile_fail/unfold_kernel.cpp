// A window that is larger than the image has no place.
// expect: castnet: unfold2d: the kernel is larger than its input
// expect: kernel_within<castnet::kernel<3, 9>, castnet::shape<2, 4, 5> ?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<2, 4, 5>, cn::unfold2d<cn::size2{3, 9}>>;

auto count = net::parameter_count;
