// A layer of one's own returns its result.
// expect: castnet: a layer returns what it computes, a symbol such as x \* 2, and nothing else
// expect: layer_returns<.*doubled, ?void>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct doubled {
    constexpr void operator()(auto x) const { x * 2; }
};
using net = cn::sequential<cn::input<2>, doubled{}, cn::dense<3>>;

auto count = net::parameter_count;
