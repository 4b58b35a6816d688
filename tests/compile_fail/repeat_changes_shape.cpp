// A repeated block is applied to its own result.
// expect: castnet: repeat: its block changes the shape
// expect: repeated_block_keeps_shape<.*shape<5>, .*shape<4>
// expect: at_layer<1,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5>, cn::relu, cn::repeat<3, cn::dense<4>>, cn::dense<2>>;

auto count = net::parameter_count;
