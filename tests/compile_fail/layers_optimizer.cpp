// An optimizer is no layer.
// expect: castnet: what stands at this position cannot be called with the result of the layer before it
// expect: layer_takes<.*adam, .*shape<4>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct net_function {
    constexpr auto operator()(auto x) const { return x | cn::dense<4> | cn::adam{}; }
};
using net = cn::network<net_function{}, cn::input<3>>;

auto count = net::parameter_count;
