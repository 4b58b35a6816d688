// Training changes the model.
// expect: castnet: compile\(model, loss, optimizer, metrics\.\.\.\): the model is const, but training changes it
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

void train(cn::model<net, cn::policy::cpu, cn::batch<8>> const& model) {
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
}
