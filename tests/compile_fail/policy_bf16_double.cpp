// Factors in bfloat16 have sums in float.
// expect: castnet: policy::bf16 is for policies that compute in float
#include <castnet/castnet.hpp>

namespace cn = castnet;

cn::model<cn::sequential<cn::input<3>, cn::dense<4>>,
          cn::policy::bf16<cn::policy::basic_cpu<double>>, cn::batch<8>>
    model;
