// Rules of whole parameters are for one GPU.
// expect: castnet: cn::lamb, cn::muon and cn::clip_each_norm update whole parameters
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
#include <castnet/policy/model_parallel.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<4>>;

void train(cn::data::dataset<cn::data::label<4>, cn::shape<3>> const& data) {
    cn::model<net, cn::policy::model_parallel<cn::policy::cuda, 2>, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::lamb{});
    training.step(data);
}
