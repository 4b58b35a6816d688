// Something is left of the result of a transposed convolution over a volume.
// expect: castnet: conv_transpose3d: the padding, which is cut off the result, leaves nothing of it
// expect: padding_within<.*kernel<9, ?9, ?9>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 5, 5, 5>,
                           cn::conv_transpose3d<8, 3, cn::conv_transpose3{.padding = 9}>>;

auto count = net::parameter_count;
