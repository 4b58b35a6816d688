// The training step of a perceptron for regression, 13-16-32-1.
#include <castnet/castnet.hpp>

namespace cn = castnet;

using mlp =
    cn::sequential<cn::input<13>, cn::dense<16>, cn::relu, cn::dense<32>, cn::relu, cn::dense<1>>;
using model = cn::model<mlp, cn::policy::cpu, cn::batch<32>>;
using samples = cn::data::dataset<cn::shape<1>, cn::shape<13>>;

double train(model& m, samples const& data) {
    auto training = cn::compile(m, cn::mse, cn::adam{});
    training.fit(data);
    return training.evaluate(data).loss();
}
