// Lengths are for layers that go from step to step.
// expect: castnet: with_lengths\(x, lengths\) and backward\(x\) are for recurrent layers and scan; other layers come before
// expect: layer_takes_steps<.*dense
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct masked {
    constexpr auto operator()(auto x, auto lengths) const {
        return cn::with_lengths(x, lengths) | cn::dense<4> | cn::gru<8>;
    }
};
using net = cn::network<masked{}, cn::input<6, 2>, cn::input_length<6>>;

auto count = net::parameter_count;
