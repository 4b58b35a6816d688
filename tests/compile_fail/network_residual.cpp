// The body of a residual block must not change the shape.
// expect: castnet: residual: its layers change the shape.*cn::projected_residual
// expect: residual_keeps_shape<.*shape<64, ?5, ?5>, .*shape<64, ?3, ?3>
// expect: at_layer<1,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<64, 5, 5>, cn::relu, cn::residual<cn::conv2d<64, 3>>>;

auto count = net::parameter_count;
