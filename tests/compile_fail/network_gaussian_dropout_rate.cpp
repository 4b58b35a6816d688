// Some elements are left.
// expect: castnet: dropout, spatial_dropout, alpha_dropout, gaussian_dropout and stochastic_depth: the rate must be in \[0, 1\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 4, 3>, cn::gaussian_dropout<1>>;

auto count = net::parameter_count;
