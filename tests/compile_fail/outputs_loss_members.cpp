// A loss with a value of its own in a list.
// expect: castnet: a loss or metric has members other than cn::scalar
// expect: members_are_scalars<.*scaled>|scalars_in<scaled>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct scaled {
    static constexpr bool labels = false;
    float scale = 1;
    constexpr auto operator()(auto prediction, auto target) const {
        return cn::mse(prediction, target) * scale;
    }
};
struct two_heads {
    constexpr auto operator()(auto x) const {
        return cn::outputs(x | cn::dense<3>, x | cn::dense<4>);
    }
};
using net = cn::network<two_heads{}, cn::input<2>>;
cn::model<net, cn::policy::cpu, cn::batch<8>> model;

auto training = cn::compile(model, cn::losses<cn::cross_entropy, scaled{2}>, cn::adam{});
