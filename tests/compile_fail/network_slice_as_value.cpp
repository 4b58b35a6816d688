// A part of a weight is no value either.
// expect: castnet: a parameter of role::dense_weight or conv_weight is for matmul\(\) or convolve\(\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct weighted {
    constexpr auto operator()(auto x) const {
        auto const w =
            cn::new_parameter<cn::shape<6, 3>>(*x.g, "w", {.kind = cn::role::dense_weight});
        return x + cn::parameter_slice<0, 4>(w);
    }
};
using net = cn::network<weighted{}, cn::input<4, 3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
