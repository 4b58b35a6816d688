// A name has at least one character.
// expect: castnet: named<name, layer>, shared<name, layer>: the name is empty
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::named<"", cn::dense<3>>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
