// A window that does not move slides over nothing.
// expect: castnet: conv3d: kernel, stride, dilation and groups are at least 1
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 5, 5, 5>,
                           cn::conv3d<8, 3, cn::conv3{.stride = cn::size3{0, 1, 1}}>>;

auto count = net::parameter_count;
