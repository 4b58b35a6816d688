// A dense layer takes vectors.
// expect: castnet: dense needs a vector \(features\) or a sequence \(time, features\); put cn::flatten before it
// expect: dense_takes<.*shape<8, ?26, ?26>
// expect: at_layer<1,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 28, 28>, cn::conv2d<8, 3>, cn::dense<10>>;

auto count = net::parameter_count;
