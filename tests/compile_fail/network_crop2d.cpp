// A crop leaves some pixels.
// expect: castnet: crop2d leaves nothing of the image
// expect: pixels_left<.*top_bottom_left_right<3(UL)?, 3(UL)?, 1(UL)?, 1(UL)?>, .*shape<2(UL)?, 6(UL)?, 5(UL)?>
// expect-g++: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<2, 6, 5>, cn::crop2d<cn::sides{3, 1}>>;

auto count = net::parameter_count;
