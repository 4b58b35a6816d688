// A network begins with the shape of its input.
// expect: castnet: a network must begin with its input, cn::input<channels, height, width> or cn::input<features>
// expect: begins_with_input<.*dense_layer<4>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::dense<4>, cn::relu, cn::dense<2>>;

auto count = net::parameter_count;
cn::model<net, cn::policy::cpu, cn::batch<8>> model;
