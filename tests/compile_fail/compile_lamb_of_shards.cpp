// LAMB needs the norm of whole parameters, of which a replica updates parts.
// expect: castnet: compile.model, loss, optimizer, metrics...*: with strategy::sharded_optimizer no replica has a whole parameter
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;
using where = cn::policy::mirrored<cn::policy::cpu, 2, cn::strategy::sharded_optimizer>;

int main() {
    cn::model<net, where, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::lamb{});
}
