// There is no state to keep.
// expect: castnet: stateful_predictor is for networks with a recurrent layer, a scan, a
#include <castnet/castnet.hpp>

namespace cn = castnet;
using net = cn::sequential<cn::input<8, 2>, cn::dense<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> const model{cn::seed{1}};
cn::stateful_predictor steps{model};
auto y = steps.predict(std::array<float, 2>{});
