// Some elements are left.
// expect: castnet: alpha_dropout: the rate must be in \[0, 1\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 4, 3>, cn::alpha_dropout<1>>;

auto count = net::parameter_count;
