// A stride along time is a single number.
// expect: castnet: conv_transpose1d: a stride, padding or dilation along time is a single number
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net =
    cn::sequential<cn::input<5, 3>,
                   cn::conv_transpose1d<8, 3, cn::conv_transpose{.stride = cn::size2{1, 2}}>>;

auto count = net::parameter_count;
