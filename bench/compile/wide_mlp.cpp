// The training step of a perceptron, 784-512-512-10.
#include <castnet/castnet.hpp>

namespace cn = castnet;

using mlp = cn::sequential<cn::input<784>, cn::dense<512>, cn::relu, cn::dense<512>, cn::relu,
                           cn::dense<10>>;
using model = cn::model<mlp, cn::policy::cpu, cn::batch<128>>;
using samples = cn::data::dataset<cn::data::label<10>, cn::shape<784>>;

double train(model& m, samples const& data) {
    auto training = cn::compile(m, cn::cross_entropy, cn::adam{}, cn::accuracy);
    training.fit(data);
    return training.evaluate(data).loss();
}
