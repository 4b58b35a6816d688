// Channels become squares of pixels.
// expect: castnet: pixel_shuffle needs an image \(channels, height, width\) whose channels are a multiple
// expect: has_channels_for_pixels<.*shape<6, ?3, ?3>, ?2(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 3, 3>, cn::pixel_shuffle<2>>;

auto count = net::parameter_count;
