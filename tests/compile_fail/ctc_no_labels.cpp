// There is something to be spelled.
// expect: castnet: ctc needs a class besides the blank, and at least one label
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<7, 4>, cn::dense<5>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::ctc<5, 0>, cn::adam{});
