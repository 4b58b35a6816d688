// The training step of ResNet-50 in bf16 on a GPU.
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
#include <castnet/zoo/resnet.hpp>

namespace cn = castnet;

using model = cn::model<cn::zoo::resnet50, cn::policy::bf16<cn::policy::cuda>, cn::batch<256>>;
using images = cn::data::dataset<cn::data::label<1000>, cn::shape<3, 224, 224>>;

double train(model& m, images const& data) {
    auto training = cn::compile(m, cn::cross_entropy, cn::momentum{}, cn::accuracy);
    training.fit(data);
    return training.evaluate(data).loss();
}
