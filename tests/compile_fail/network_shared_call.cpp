// The same of layers that are shared.
// expect: castnet: the layer stands beside its name: named<"name", dense<4>>, shared<"name", dense<4>>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::shared<"head">(cn::dense<4>)>;

auto count = net::parameter_count;
