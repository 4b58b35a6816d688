// A network computes in real numbers.
// expect: castnet: policy::basic_cpu computes in float or double
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::basic_cpu<int>, cn::batch<8>> model;
