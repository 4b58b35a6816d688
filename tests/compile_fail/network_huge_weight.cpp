// A weight has less than 2^31 numbers.
// expect: castnet: a tensor of a network has less than 2\^31 elements for each sample, and a parameter
// expect: elements_are_countable<.*shape<70000, ?70000>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<70000>, cn::dense<70000>, cn::dense<2>>;

auto count = net::parameter_count;
