// A slice lies within its axis.
// expect: castnet: slice: it is empty or reaches beyond the axis
// expect: slice_within_axis<2[^,]*, 5
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct cut {
    constexpr auto operator()(auto x) const { return cn::slice<0, 2, 5>(x); }
};
using net = cn::sequential<cn::input<4, 2>, cut{}>;

auto count = net::parameter_count;
