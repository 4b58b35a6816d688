// Borders are those of images.
// expect: castnet: padding and cropping in two dimensions, such as zero_pad2d and crop2d, need an image
// expect: is_image<.*shape<784>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<784>, cn::zero_pad2d<1>>;

auto count = net::parameter_count;
