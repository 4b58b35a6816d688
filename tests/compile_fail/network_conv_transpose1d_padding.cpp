// Something is left of the result of a transposed convolution over time.
// expect: castnet: conv_transpose1d: the padding, which is cut off the result, leaves nothing of it
// expect: padding_within<.*kernel<9>, .*shape<5, ?1>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net =
    cn::sequential<cn::input<5, 1>, cn::conv_transpose1d<8, 3, cn::conv_transpose{.padding = 9}>>;

auto count = net::parameter_count;
