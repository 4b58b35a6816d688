// A layer has at least one unit, one filter.
// expect: castnet: dense needs at least one unit
// expect: castnet: conv2d needs at least one filter
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<1, 9, 9>, cn::conv2d<0, 3>, cn::flatten, cn::dense<0>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
