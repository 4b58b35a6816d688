// predict_one takes numbers of the model's element type.
// expect: castnet: predict_one takes the numbers of a sample and where to write those of an output
// expect: predict_one_takes<.*float.*double
#include <castnet/castnet.hpp>

#include <vector>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<2>>;

void predict(cn::model<net, cn::policy::cpu, cn::batch<1>> const& model) {
    float scores[2];
    model.predict_one(std::vector<double>(4), scores);
}
