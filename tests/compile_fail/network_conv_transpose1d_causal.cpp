// Transposed convolutions have no causal padding.
// expect: castnet: conv_transpose1d: only conv1d and pooling have causal padding
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net =
    cn::sequential<cn::input<5, 3>, cn::conv_transpose1d<8, 3, cn::conv_transpose{1, cn::causal}>>;

auto count = net::parameter_count;
