// A gated linear unit needs two halves.
// expect: castnet: glu halves the channels of an image or the last axis
// expect: has_halves<castnet::shape<5
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5>, cn::glu>;

auto count = net::parameter_count;
