// Channels are shuffled between groups of the same size.
// expect: castnet: channel_shuffle needs an image \(channels, height, width\) whose channels are a multiple
// expect: has_channel_groups<.*shape<6, 3, 3>, 4(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 3, 3>, cn::channel_shuffle<4>>;

auto count = net::parameter_count;
