// A training refers to its model.
// expect: castnet: compile\(model, loss, optimizer, metrics\.\.\.\): the training refers to the model, which must not be a temporary: give it a name
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

auto training =
    cn::compile(cn::model<net, cn::policy::cpu, cn::batch<8>>{}, cn::cross_entropy, cn::adam{});
