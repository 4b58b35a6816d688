// A weight is multiplied with vectors.
// expect: castnet: tied_dense needs a vector \(units\) or a sequence \(time, units\)
// expect: dense_takes<.*shape<8, ?26, ?26>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 28, 28>, cn::conv2d<8, 3>, cn::tied_dense<10>>;

auto count = net::parameter_count;
