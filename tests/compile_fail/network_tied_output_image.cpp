// The rows of a table are multiplied with vectors.
// expect: castnet: tied_output needs a vector \(features\) or a sequence \(time, features\)
// expect: tied_output_takes<.*shape<8, ?26, ?26>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 28, 28>, cn::conv2d<8, 3>, cn::tied_output<10>>;

auto count = net::parameter_count;
