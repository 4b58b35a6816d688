// What follows a loop reads its outputs.
// expect: castnet: scan and with_state give a result of two members, \.outputs of all steps and \.last
// expect: layer_takes_outputs<.*dense_layer<2
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct forecast {
    constexpr auto operator()(auto x) const { return cn::lstm<8>.with_state(x) | cn::dense<2>; }
};
using net = cn::network<forecast{}, cn::input<10, 3>>;

auto count = net::parameter_count;
