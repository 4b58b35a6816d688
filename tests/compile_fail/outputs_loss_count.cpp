// A loss for the first of two outputs only.
// expect: castnet: cn::losses needs one loss for each output of the network
// expect: loss_for_each_output<1(UL)?, 2(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct two_heads {
    constexpr auto operator()(auto x) const {
        return cn::outputs(x | cn::dense<3>, x | cn::dense<4>);
    }
};
using net = cn::network<two_heads{}, cn::input<2>>;
cn::model<net, cn::policy::cpu, cn::batch<8>> model;

auto training = cn::compile(model, cn::losses<cn::cross_entropy>, cn::adam{});
