// Replicas have no replicas.
// expect: castnet: policy::mirrored takes a policy of one replica
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

namespace cn = castnet;

using two = cn::policy::mirrored<cn::policy::cpu, 2>;

cn::model<cn::sequential<cn::input<3>, cn::dense<4>>, cn::policy::mirrored<two, 2>, cn::batch<8>>
    model;
