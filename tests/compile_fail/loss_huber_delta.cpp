// A loss is linear beyond some error.
// expect: castnet: huber<delta>: delta must be finite and above 0
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::huber<-1.0F>, cn::adam{});
