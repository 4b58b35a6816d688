// A metric of real numbers for an output whose target is a class number.
// expect: castnet: a metric cannot be called with its output and the target
// expect: metric_takes<.*mse_loss, .*shape<3>.*shape<>
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
                            cn::on_output<0, cn::mse>);
