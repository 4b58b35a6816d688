// A name is no function of layers.
// expect: castnet: the layer stands beside its name: named<"name", dense<4>>, shared<"name", dense<4>>
// expect: layer_stands_beside_name<.*(head|104).*, castnet::dense_layer<4
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::named<"head">(cn::dense<4>)>;

auto count = net::parameter_count;
