// A vector has no positions.
// expect: castnet: learned_positions needs a sequence \(time, features\)
// expect: has_positions<.*shape<5>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5>, cn::learned_positions>;

auto count = net::parameter_count;
