// Waves come in pairs, sine and cosine.
// expect: castnet: sinusoidal_positions needs a sequence \(time, features\) with an even number
// expect: has_pairs<.*shape<4, 5>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4, 5>, cn::sinusoidal_positions>;

auto count = net::parameter_count;
