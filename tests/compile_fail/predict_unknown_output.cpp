// Outputs are counted from 0.
// expect: castnet: predict<number>: the network has no such output
// expect: network_has_output<1, 1>
#include <castnet/castnet.hpp>

#include <vector>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<1>>;

std::vector<float> predict(cn::model<net, cn::policy::cpu, cn::batch<1>> const& model) {
    return model.predict<1>(std::vector<float>(4));
}
