// Scores are several numbers, the loss by name.
// expect: castnet: what evaluate\(\) and step\(\) return are scores, which are no number: \.loss\(\) is the loss
// expect: scores_are_several_numbers<.*scores<
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<2>, cn::dense<1>>;

double loss_of(cn::data::dataset<cn::shape<1>, cn::shape<2>> const& data) {
    cn::model<net, cn::policy::cpu, cn::batch<4>> model;
    auto training = cn::compile(model, cn::mse, cn::adam{});
    double const loss = training.evaluate(data);
    return loss;
}
