// A depthwise convolution knows its groups.
// expect: castnet: depthwise_conv2d and separable_conv2d have as many groups as channels: leave conv::groups out
// expect: groups_left_out<.*6(UL)?(}.groups)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 5, 5>, cn::depthwise_conv2d<3, cn::conv{.groups = 6}>>;

auto count = net::parameter_count;
