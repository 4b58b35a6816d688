// Causal padding is in front of steps.
// expect: castnet: conv3d: causal padding is for sequences
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net =
    cn::sequential<cn::input<1, 5, 5, 5>, cn::conv3d<8, 3, cn::conv3{.padding = cn::causal}>>;

auto count = net::parameter_count;
