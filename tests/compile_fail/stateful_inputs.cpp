// A whole sequence instead of a step.
// expect: castnet: stateful_predictor::predict takes one step of each input of the network
#include <castnet/castnet.hpp>

namespace cn = castnet;
using net = cn::sequential<cn::input<8, 2>, cn::lstm<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> const model{cn::seed{1}};
cn::stateful_predictor steps{model};
auto y = steps.predict(std::array<float, 16>{});
