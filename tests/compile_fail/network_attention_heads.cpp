// Heads share the features.
// expect: castnet: multi_head_attention needs sequences \(time, features\): queries, keys and values
// expect: attends_with_equal_features<4(UL)?, .*shape<5, 6>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5, 6>, cn::multi_head_attention<4>>;

auto count = net::parameter_count;
