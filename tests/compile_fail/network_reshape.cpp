// Reshaping keeps the number of elements.
// expect: castnet: reshape must keep the number of elements
// expect: same_count<.*shape<12>, .*shape<3, ?5>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<12>, cn::reshape<3, 5>>;

auto count = net::parameter_count;
