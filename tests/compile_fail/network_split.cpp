// Parts have the same extent.
// expect: castnet: split: the extent of the axis must be a multiple of the number of parts
// expect: parts_divide<3[^,]*, .*4
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct third {
    constexpr auto operator()(auto x) const { return cn::split<0, 3>(x)[0]; }
};
using net = cn::sequential<cn::input<4, 2>, third{}>;

auto count = net::parameter_count;
