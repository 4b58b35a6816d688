// A sample has less than 2^31 numbers, also where their count is beyond 64 bits.
// expect: castnet: a tensor of a network has less than 2\^31 elements for each sample, and a parameter
// expect: elements_are_countable<.*shape<4294967296, ?4294967296>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4294967296, 4294967296>, cn::dense<2>>;

auto count = net::parameter_count;
