// Transposed convolutions over time take sequences.
// expect: castnet: conv_transpose1d needs a sequence \(time, features\)
// expect: has_time<.*shape<3, ?5, ?5>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3, 5, 5>, cn::conv_transpose1d<8, 3>>;

auto count = net::parameter_count;
