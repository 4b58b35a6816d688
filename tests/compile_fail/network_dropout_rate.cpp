// Dropout keeps something.
// expect: castnet: dropout, spatial_dropout, alpha_dropout, gaussian_dropout and stochastic_depth: the rate must be in \[0, 1\)
// expect: dropout_rate<(1|1\.0e\+0f|1\.000000e\+00)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dropout<1.0F>>;

auto count = net::parameter_count;
