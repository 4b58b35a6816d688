// The training step of the network of examples/quickstart.cpp.
#include <castnet/castnet.hpp>

namespace cn = castnet;

using convnet = cn::sequential<cn::input<1, 28, 28>, cn::conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
                               cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>, cn::conv2d<64, 3>,
                               cn::relu, cn::flatten, cn::dense<64>, cn::relu, cn::dense<10>>;
using model = cn::model<convnet, cn::policy::cpu, cn::batch<128>>;
using images = cn::data::dataset<cn::data::label<10>, cn::shape<1, 28, 28>>;

double train(model& m, images const& data) {
    auto training = cn::compile(m, cn::cross_entropy, cn::adam{}, cn::accuracy);
    training.fit(data);
    return training.evaluate(data).loss();
}
