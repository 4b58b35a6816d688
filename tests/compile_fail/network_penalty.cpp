// A penalty is no reward.
// expect: castnet: l1\(...\) and l2\(...\): the factor of a penalty must be finite and not negative
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>.l2(-1e-4F)>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
