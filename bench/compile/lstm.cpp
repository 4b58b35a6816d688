// The training step of two LSTMs over 140 time steps.
#include <castnet/castnet.hpp>

namespace cn = castnet;

using network = cn::sequential<cn::input<140, 16>, cn::lstm<128>.return_sequences(), cn::lstm<128>,
                               cn::dense<10>>;
using model = cn::model<network, cn::policy::cpu, cn::batch<32>>;
using sequences = cn::data::dataset<cn::data::label<10>, cn::shape<140, 16>>;

double train(model& m, sequences const& data) {
    auto training = cn::compile(m, cn::cross_entropy, cn::adam{}, cn::accuracy);
    training.fit(data);
    return training.evaluate(data).loss();
}
