// An array for a sample or an output has just as many numbers.
// expect: castnet: an array given to predict_one has another size than a sample of the network
// expect: numbers_of_one_sample<4, 3>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<2>>;

void predict(cn::model<net, cn::policy::cpu, cn::batch<1>> const& model) {
    float const sample[3] = {};
    float scores[2];
    model.predict_one(sample, scores);
}
