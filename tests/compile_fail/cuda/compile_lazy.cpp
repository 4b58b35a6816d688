// Rows of embeddings are passed over on CPUs only.
// expect: castnet: compile.model, loss, optimizer, metrics...*: cn::lazy is for CPUs
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

int main() {
    cn::model<net, cn::policy::cuda, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::lazy(cn::adam{}));
}
