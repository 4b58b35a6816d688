// A permutation names every axis.
// expect: castnet: permute needs the number of every axis of its input once
// expect: permutes_axes_of<.*shape<4, 6>, 1(UL)?, 1(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4, 6>, cn::permute<1, 1>>;

auto count = net::parameter_count;
