// An activation is an object.
// expect: castnet: an activation is an object and takes no \(\): cn::relu
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<4>, cn::relu(), cn::dense<2>>;

auto count = net::parameter_count;
