// Several devices are those of a CPU.
// expect: castnet: policy::devices takes a policy::cpu
#include <castnet/castnet.hpp>
#include <castnet/policy/devices.hpp>

namespace cn = castnet;

struct elsewhere : cn::policy::cpu {
    struct device : cn::cpu_device<float> {};
};

cn::model<cn::sequential<cn::input<3>, cn::dense<4>>, cn::policy::devices<elsewhere, 2>,
          cn::batch<8>>
    model;
