// Images have no future.
// expect: castnet: conv2d: causal padding is for sequences
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 9, 9>, cn::conv2d<8, 3, cn::conv{.padding = cn::causal}>>;

auto count = net::parameter_count;
