// A state has as many numbers as the layer has units, and an LSTM has two.
// expect: takes what the layer carries, as many numbers each as it has units: h, and of lstm h and c
// expect-g++: begins_state<2, castnet::shape<8>, castnet::shape<8> ?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct without_cell_state {
    constexpr auto operator()(auto x, auto h) const { return cn::lstm<8>.with_state(x, h).outputs; }
};
using net = cn::network<without_cell_state{}, cn::input<6, 2>, cn::input<8>>;

auto count = net::parameter_count;
