// Muon is for CPUs.
// expect: castnet: compile.model, loss, optimizer, metrics...*: cn::muon and cn::lazy are for CPUs
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

int main() {
    cn::model<net, cn::policy::cuda, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::muon{});
}
