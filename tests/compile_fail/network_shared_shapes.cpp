// A shared layer has one shape of parameters.
// expect: castnet: shared<name, layer> is used where its layer needs parameters of another shape
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::shared<"twin", cn::dense<8>>,
                           cn::shared<"twin", cn::dense<8>>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
