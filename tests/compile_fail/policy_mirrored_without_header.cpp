// policy::mirrored has a header of its own.
// expect: castnet: policy::mirrored and policy::logical need #include <castnet/policy/mirrored.hpp>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::mirrored<cn::policy::cpu, 2>, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
