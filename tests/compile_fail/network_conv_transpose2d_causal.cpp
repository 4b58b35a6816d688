// Images have no causal padding.
// expect: castnet: conv_transpose2d: causal padding is for sequences
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3, 5, 5>,
                           cn::conv_transpose2d<8, 3, cn::conv_transpose{1, cn::causal}>>;

auto count = net::parameter_count;
