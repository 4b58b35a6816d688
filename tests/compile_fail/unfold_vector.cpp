// Only images are unfolded.
// expect: castnet: unfold2d needs an image \(channels, height, width\); see is_image
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 2>, cn::unfold2d<3>>;

auto count = net::parameter_count;
