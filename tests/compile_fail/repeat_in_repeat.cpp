// Repeated blocks do not nest.
// expect: castnet: a block of repeat<N, block> cannot contain repeat<...>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5>, cn::repeat<3, cn::repeat<2, cn::dense<5>>>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
