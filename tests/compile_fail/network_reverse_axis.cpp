// A vector has one axis.
// expect: castnet: reverse: the tensor has no such axis
// expect: tensor_has_axis<.*shape<4>, 1
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::reverse<1>>;

auto count = net::parameter_count;
