// A vector has nothing that instance_norm could normalise over.
// expect: castnet: instance_norm needs an image \(channels, height, width\) or a sequence
// expect: has_pixels<.*shape<9>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<9>, cn::instance_norm>;

auto count = net::parameter_count;
