// There is one stride along time.
// expect: castnet: conv1d: a stride, padding or dilation along time is a single number
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<9, 2>, cn::conv1d<8, 3, cn::conv{.stride = cn::size2{1, 2}}>>;

auto count = net::parameter_count;
