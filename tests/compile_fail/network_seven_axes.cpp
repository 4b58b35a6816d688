// A tensor of a network has up to six axes.
// expect: castnet: a tensor of a network has at most six axes
// expect: shape<2, ?1, ?1, ?1, ?1, ?1, ?3>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<2, 1, 1, 1, 1, 1, 3>, cn::dense<4>>;

auto count = net::parameter_count;
