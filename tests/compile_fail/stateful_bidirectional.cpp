// The first step of a sequence that is read backwards is the last one.
// expect: castnet: stateful_predictor computes one step of a sequence after the other, but a layer
#include <castnet/castnet.hpp>

namespace cn = castnet;
using net = cn::sequential<cn::input<8, 2>, cn::bidirectional<cn::lstm<4>>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> const model{cn::seed{1}};
cn::stateful_predictor steps{model};
auto y = steps.predict(std::array<float, 2>{});
