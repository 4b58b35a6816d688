// A network as a layer gets the input that it was made for.
// expect: castnet: a network used as a layer gets an input of another shape than its own
// expect: same_input<.*shape<4>, .*shape<8>
// expect: at_layer<1,
#include <castnet/castnet.hpp>

namespace cn = castnet;

using encoder = cn::sequential<cn::input<4>, cn::dense<2>>;
using net = cn::sequential<cn::input<6>, cn::dense<8>, encoder{}>;

auto count = net::parameter_count;
