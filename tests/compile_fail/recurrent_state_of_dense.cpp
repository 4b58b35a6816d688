// A container has the function with_state of its layer, which a dense layer lacks.
// expect: with_state\(x, h\) is for a layer that has a state: rnn, gru or lstm, also in named, shared
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct stateless {
    constexpr auto operator()(auto x) const {
        return cn::named<"layer", cn::dense<3>>.with_state(x).outputs;
    }
};
using net = cn::network<stateless{}, cn::input<6, 2>>;

auto count = net::parameter_count;
