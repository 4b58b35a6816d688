// Of a transposed convolution at most stride - 1 steps are left open.
// expect: castnet: conv_transpose1d: output_padding must be less than the stride
// expect: output_padding_below_stride<.*kernel<2(UL)?>, .*kernel<2(UL)?>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net =
    cn::sequential<cn::input<5, 3>, cn::conv_transpose1d<8, 3, cn::conv_transpose{2, 1, 2}>>;

auto count = net::parameter_count;
