// A seed says that it is one.
// expect: castnet: the seed of a model is no plain number: model\{cn::seed\{42\}\}
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model{42};
