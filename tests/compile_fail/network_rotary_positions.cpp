// The features of a head turn in pairs.
// expect: castnet: rotary_positions needs a sequence \(time, features\) with an even number of features
// expect: heads_have_pairs<2(UL)?, .*shape<4, 6>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4, 6>, cn::rotary_positions<2>>;

auto count = net::parameter_count;
