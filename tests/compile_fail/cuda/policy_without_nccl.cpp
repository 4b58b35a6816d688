// Replicas on several GPUs, and no word of what connects them.
// expect: castnet: replicas on several GPUs add up by NCCL: include <castnet/nccl.hpp> and link castnet::nccl
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
#include <castnet/policy/mirrored.hpp>

namespace cn = castnet;

cn::model<cn::sequential<cn::input<3>, cn::dense<4>>, cn::policy::mirrored<cn::policy::cuda, 2>,
          cn::batch<8>>
    model;
auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
