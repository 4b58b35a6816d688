// An embedding takes ids and no real numbers.
// expect: castnet: embedding needs ids, which are whole numbers: cn::input_ids<values, time>
// expect: embedding_takes<.*shape<12>
// expect: at_layer<0,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<12>, cn::embedding<100, 8>, cn::flatten, cn::dense<2>>;

auto count = net::parameter_count;
