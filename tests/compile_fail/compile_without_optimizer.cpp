// A training has an optimizer.
// expect: castnet: compile\(model, loss, optimizer, metrics...\): the optimizer is missing
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

auto train(cn::model<net, cn::policy::cpu, cn::batch<8>>& model) {
    return cn::compile(model, cn::cross_entropy);
}
