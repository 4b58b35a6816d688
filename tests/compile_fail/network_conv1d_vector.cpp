// conv1d takes sequences.
// expect: castnet: conv1d needs a sequence \(time, features\)
// expect: has_time<.*shape<9>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<9>, cn::conv1d<4, 3>>;

auto count = net::parameter_count;
