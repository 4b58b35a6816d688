// Pooling over time takes sequences.
// expect: castnet: pooling and up-sampling over time need a sequence \(time, features\)
// expect: has_time<.*shape<1, ?9, ?9>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 9, 9>, cn::max_pool1d<2>>;

auto count = net::parameter_count;
