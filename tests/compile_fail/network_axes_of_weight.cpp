// The weight of a product has two axes.
// expect: castnet: a parameter of role::dense_weight has two axes \(units, features\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct bias_as_weight {
    constexpr auto operator()(auto x) const {
        return x + cn::new_parameter<cn::shape<4>>(*x.g, "bias", {cn::role::dense_weight});
    }
};
using net = cn::network<bias_as_weight{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
