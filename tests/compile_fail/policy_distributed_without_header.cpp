// policy::distributed has a header of its own.
// expect: castnet: policy::distributed needs #include <castnet/policy/distributed.hpp>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::distributed<cn::policy::cpu>, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
