// The same for pooling.
// expect: castnet: pooling: causal padding is for sequences
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net =
    cn::sequential<cn::input<1, 9, 9>, cn::max_pool2d<3, cn::pooling{.padding = cn::causal}>>;

auto count = net::parameter_count;
