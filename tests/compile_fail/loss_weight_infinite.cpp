// Losses are added up by numbers.
// expect: castnet: loss_weight<weight, loss>: the weight must be finite
#include <castnet/castnet.hpp>

#include <limits>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::loss_weight<std::numeric_limits<float>::infinity(), cn::mse>,
                            cn::adam{});
