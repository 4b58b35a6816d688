// The weight of a loss is a template argument.
// expect: castnet: the weight of a loss is a template argument: loss_weight<0.5, mse>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using weighted = decltype(cn::losses<0.5 * cn::mse>);
