// Weights lie in an order of their own, so only their products read them.
// expect: castnet: a parameter of role::dense_weight or conv_weight is for matmul\(\) or convolve\(\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct scaled_by_weight {
    constexpr auto operator()(auto x) const {
        return x * cn::new_parameter<cn::shape<4, 4>>(*x.g, "weight", {cn::role::dense_weight});
    }
};
using net = cn::network<scaled_by_weight{}, cn::input<4, 4>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
