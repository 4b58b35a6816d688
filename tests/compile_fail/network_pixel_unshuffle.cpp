// Squares of pixels become channels.
// expect: castnet: pixel_unshuffle needs an image \(channels, height, width\) whose height and width
// expect: has_squares_of_pixels<.*shape<6, ?4, ?3>, ?2(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 4, 3>, cn::pixel_unshuffle<2>>;

auto count = net::parameter_count;
