// One bound is maximum or minimum.
// expect: castnet: clip takes both bounds, clip\(x, low, high\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct non_negative {
    constexpr auto operator()(auto x) const { return cn::clip(x, 0); }
};
using net = cn::network<non_negative{}, cn::input<6>>;

auto count = net::parameter_count;
