// A training has replicas.
// expect: castnet: policy::logical has at least one replica
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

namespace cn = castnet;

cn::model<cn::sequential<cn::input<3>, cn::dense<4>>, cn::policy::logical<cn::policy::cpu, 0>,
          cn::batch<8>>
    model;
