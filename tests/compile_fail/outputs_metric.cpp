// A metric of a third output of two.
// expect: castnet: cn::on_output names an output that the network does not have
// expect: metric_has_output<2(UL)?, 2(UL)?, 2(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct two_heads {
    constexpr auto operator()(auto x) const {
        return cn::outputs(x | cn::dense<3>, x | cn::dense<4>);
    }
};
using net = cn::network<two_heads{}, cn::input<2>>;
cn::model<net, cn::policy::cpu, cn::batch<8>> model;

auto training = cn::compile(model, cn::losses<cn::cross_entropy, cn::mse>, cn::adam{},
                            cn::on_output<2, cn::mae>);
