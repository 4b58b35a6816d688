// A batch has its size as an argument.
// expect: castnet: the third argument of cn::model is the batch, cn::batch<number of samples>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, int> model;
