// Three axes in row-major order are no image.
// expect: castnet: conv2d needs an image \(channels, height, width\)
// expect: is_image<.*ordered_shape<.*4, ?6, ?8>
// expect: at_layer<1,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 32>, cn::reshape_to<cn::row_major_shape<4, 6, 8>>,
                           cn::conv2d<8, 3>>;

auto count = net::parameter_count;
