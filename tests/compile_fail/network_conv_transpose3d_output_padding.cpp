// Of a transposed convolution at most stride - 1 slices are left open.
// expect: castnet: conv_transpose3d: output_padding must be less than the stride
// expect: output_padding_below_stride<
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<
    cn::input<1, 5, 5, 5>,
    cn::conv_transpose3d<8, 3,
                         cn::conv_transpose3{.stride = 2, .output_padding = cn::size3{2, 0, 0}}>>;

auto count = net::parameter_count;
