// There is one stride along time.
// expect: castnet: pooling: a stride or padding along time is a single number
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net =
    cn::sequential<cn::input<9, 2>, cn::max_pool1d<3, cn::pooling{.stride = cn::size2{1, 2}}>>;

auto count = net::parameter_count;
