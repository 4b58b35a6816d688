// The step of a slice is at least 1.
// expect: castnet: slice: its step must be at least 1
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct cut {
    constexpr auto operator()(auto x) const { return cn::slice<0, 0, 4, 0>(x); }
};
using net = cn::sequential<cn::input<4, 2>, cut{}>;

auto count = net::parameter_count;
