// Squeeze and excitation take images.
// expect: castnet: squeeze_excitation needs an image \(channels, height, width\)
// expect: is_image<.*shape<784>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<784>, cn::squeeze_excitation<8>>;

auto count = net::parameter_count;
