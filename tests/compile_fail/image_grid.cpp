// Only grey images and those of three colours can be looked at.
// expect: castnet: a grid is of images, shape<channels, height, width>, with 1 channel
// expect: image_shape<.*shape<16(UL)?, 8(UL)?, 8(UL)?>
#include <castnet/castnet.hpp>
#include <castnet/image/grid.hpp>

auto const picture = castnet::image::grid<castnet::shape<16, 8, 8>>({});
