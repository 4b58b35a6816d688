// Averages are kept by an optimizer that is asked to.
// expect: castnet: averaged_weights needs a training whose optimizer keeps averages
// expect: optimizer_averages<.*adam>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

int main() {
    cn::model<net, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    cn::averaged_weights const now{training};
}
