// Several devices are those of a CPU.
// expect: castnet: policy::model_parallel takes a policy::cpu
#include <castnet/castnet.hpp>
#include <castnet/policy/model_parallel.hpp>

namespace cn = castnet;

struct elsewhere : cn::policy::cpu {
    struct device : cn::cpu_device<float> {};
};

cn::model<cn::sequential<cn::input<3>, cn::dense<4>>, cn::policy::model_parallel<elsewhere, 2>,
          cn::batch<8>>
    model;
