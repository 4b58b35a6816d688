// A vector has at least one element.
// expect: castnet: every extent of a shape must be at least 1
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<0>, cn::dense<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
