// Only recurrent layers have two directions.
// expect: castnet: bidirectional takes a recurrent layer, such as lstm<64>
// expect: runs_in_both_directions<
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5, 4>, cn::bidirectional<cn::dense<3>>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
