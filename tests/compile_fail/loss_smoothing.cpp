// A share of the target is smoothed.
// expect: castnet: smoothed_cross_entropy<smoothing>: the smoothing must be in \[0, 1\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::smoothed_cross_entropy<7.0F>, cn::adam{});
