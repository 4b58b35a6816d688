// A network on several GPUs has one replica.
// expect: castnet: policy::model_parallel on GPUs has one replica
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/policy/model_parallel.hpp>

namespace cn = castnet;

using where = cn::policy::mirrored<
    cn::policy::model_parallel<cn::policy::host_reduction<cn::policy::cuda>, 2>, 2>;

void train() {
    cn::model<cn::sequential<cn::input<3>, cn::dense<4>>, where, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
}
