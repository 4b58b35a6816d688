// The slope of an activation is no template argument.
// expect: castnet: this layer takes no numbers in <>, but by functions .*cn::leaky_relu.slope\(0.2\)
// expect: layer_has_its_numbers_set<.*leaky_relu
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>, cn::leaky_relu<0.2>>;
