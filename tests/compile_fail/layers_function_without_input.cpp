// So does a function.
// expect: castnet: a network must begin with its input, cn::input<channels, height, width> or cn::input<features>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct net_function {
    constexpr auto operator()(auto x) const { return x | cn::dense<4>; }
};
using net = cn::network<net_function{}, cn::dense<3>>;

auto count = net::parameter_count;
