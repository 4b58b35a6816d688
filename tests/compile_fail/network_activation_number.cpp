// A derivative that is told by the value needs a positive alpha.
// expect: castnet: leaky_relu.slope\(...\) must be finite, and elu.alpha\(...\) finite and above 0
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>, cn::elu.alpha(-1)>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
