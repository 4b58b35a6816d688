// Stochastic depth leaves some samples.
// expect: castnet: dropout, spatial_dropout, alpha_dropout, gaussian_dropout and stochastic_depth: the rate must be in \[0, 1\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<784>, cn::stochastic_depth<1.0F>>;

auto count = net::parameter_count;
