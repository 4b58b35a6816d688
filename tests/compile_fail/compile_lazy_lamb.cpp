// LAMB updates whole parameters, and a lazy optimizer some of their rows.
// expect: castnet: compile.model, loss, optimizer, metrics...*: cn::lamb, cn::muon and cn::clip_each_norm update whole parameters, and cn::lazy some of their rows
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input_ids<9>, cn::embedding<9, 3>>;

int main() {
    cn::model<net, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::mse, cn::lazy(cn::lamb{}));
}
