// The training step of VGG-16.
#include <castnet/castnet.hpp>
#include <castnet/zoo/vgg.hpp>

namespace cn = castnet;

using model = cn::model<cn::zoo::vgg16, cn::policy::cpu, cn::batch<8>>;
using images = cn::data::dataset<cn::data::label<1000>, cn::shape<3, 224, 224>>;

double train(model& m, images const& data) {
    auto training = cn::compile(m, cn::cross_entropy, cn::momentum{}, cn::accuracy);
    training.fit(data);
    return training.evaluate(data).loss();
}
static_assert(cn::zoo::vgg16::parameter_count == 138'357'544);
