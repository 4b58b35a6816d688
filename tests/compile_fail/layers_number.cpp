// A number is no layer.
// expect: castnet: what stands at this position cannot be called with the result of the layer before it
// expect: layer_takes<.*int, .*shape<4>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<4>, 128, cn::relu>;

auto count = net::parameter_count;
