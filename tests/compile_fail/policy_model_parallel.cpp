// The devices of a network are single ones.
// expect: castnet: policy::model_parallel takes a policy of one device
#include <castnet/castnet.hpp>
#include <castnet/policy/model_parallel.hpp>

namespace cn = castnet;

using pairs = cn::policy::model_parallel<cn::policy::cpu, 2>;

cn::model<cn::sequential<cn::input<3>, cn::dense<4>>, cn::policy::model_parallel<pairs, 2>,
          cn::batch<8>>
    model;
