// Running statistics lie between the old ones and those of the batch.
// expect: castnet: batch_norm: the momentum is the batch's share of the running statistics and must be in \[0, 1\]
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>, cn::batch_norm.with_momentum(1.5)>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
