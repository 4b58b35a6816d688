// ctc compares a sequence of predictions of all classes with the labels.
// expect: castnet: ctc<classes, labels> needs a sequence .time, classes.
// expect: ctc_takes<.*shape<6, ?4>, ?5
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 3>, cn::dense<4>>;

int main() {
    cn::model<net, cn::policy::cpu, cn::batch<2>> model;
    auto training = cn::compile(model, cn::ctc<5, 2>, cn::adam{});
}
