// The same for padding, slices and parts.
// expect: castnet: pad: the tensor has no such axis
// expect: tensor_has_axis<.*shape<4>, 1
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::pad<1, 2, 2>>;

auto count = net::parameter_count;
